SELECT * FROM watched_events($1)
