SELECT code, result_id, replayed, detail, seats, picture FROM record_result_batch($1::jsonb, $2)
