SELECT end_session($1, $2, $3, $4) AS outcome
