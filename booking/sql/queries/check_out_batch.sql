SELECT code, result_id, replayed, detail, seats, picture FROM check_out_batch($1::jsonb, $2)
