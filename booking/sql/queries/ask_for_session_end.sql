SELECT * FROM ask_for_session_end($1, $2, $3, $4, $5, $6, $7, $8, $9)
