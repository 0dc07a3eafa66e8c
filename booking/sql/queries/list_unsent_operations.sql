SELECT unsent_past_deadline($1) AS operation_id
