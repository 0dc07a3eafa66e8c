SELECT s.* FROM seen_key($1, 'payments', $2, $3, $4) AS s WHERE s.code IS NOT NULL
