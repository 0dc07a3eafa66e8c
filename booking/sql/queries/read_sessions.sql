SELECT * FROM sessions_of($1)
