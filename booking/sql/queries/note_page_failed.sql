SELECT note_page_failed($1, $2, $3, $4) AS state
