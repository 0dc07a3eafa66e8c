SELECT code, result_id, replayed, detail, seats FROM change_settings($1, $2, $3, $4, $5::text::jsonb, $6, $7, $8)
