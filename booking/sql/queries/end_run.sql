SELECT end_run($1, $2, $3, $4::text::jsonb, $5, $6::text[], $7) AS ended
