SELECT * FROM watched_events($1, $2)
