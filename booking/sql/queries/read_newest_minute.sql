SELECT max(m.minute) AS minute FROM figures_minutes m WHERE m.event_id = 0
