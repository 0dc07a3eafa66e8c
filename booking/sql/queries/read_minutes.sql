SELECT m.minute, m.body FROM figures_minutes m
 WHERE m.event_id = $1 AND m.minute > $2 AND m.minute <= $3 ORDER BY m.minute LIMIT $4
