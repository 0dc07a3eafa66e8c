SELECT * FROM unknown_figures()
