SELECT owes_at($1, $2) AS owes
