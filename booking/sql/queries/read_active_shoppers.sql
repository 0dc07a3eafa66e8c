SELECT * FROM active_shoppers()
