SELECT keep_page($1, $2, $3, $4::text::jsonb, $5) AS kept
