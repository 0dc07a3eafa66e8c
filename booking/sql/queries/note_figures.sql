SELECT * FROM note_figures($1, $2, $3, $4, $5)
