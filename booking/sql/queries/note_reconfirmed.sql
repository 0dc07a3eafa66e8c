SELECT note_reconfirmed($1, $2, $3)
