SELECT code, result_id, replayed, detail, seats FROM change_reconciliation_settings($1, $2, $3, $4::text::jsonb, $5, $6, $7)
