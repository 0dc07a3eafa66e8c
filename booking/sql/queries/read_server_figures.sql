SELECT * FROM server_figures()
