SELECT note_provider_event($1, $2, $3, $4, $5::jsonb) AS told
