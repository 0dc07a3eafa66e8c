SELECT * FROM item_figures()
