SELECT code, result_id, replayed, detail, seats, picture FROM open_payment_batch($1::jsonb, $2)
