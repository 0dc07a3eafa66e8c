SELECT raise_alarm($1, $2, $3, $4, $5, $6, $7) AS is_new
