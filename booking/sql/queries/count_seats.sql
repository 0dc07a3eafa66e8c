SELECT * FROM count_seats($1)
