SELECT * FROM sale_changes($1)
