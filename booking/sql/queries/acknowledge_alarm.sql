SELECT * FROM acknowledge_alarm($1, $2, $3, $4, $5, $6, $7)
