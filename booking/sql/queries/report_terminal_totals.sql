SELECT code, result_id, replayed, detail, seats
  FROM report_terminal_totals($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text::jsonb, $12, $13, $14::text::jsonb, $15, $16)
