SELECT note_missing_tickets($1::uuid[], $2, $3) AS noted
