SELECT * FROM change_alarm_rule($1, $2, $3, $4, $5, $6, $7, $8, $9)
