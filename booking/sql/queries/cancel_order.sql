SELECT code, result_id, replayed, detail, seats FROM cancel_order($1, $2, $3, $4, $5, $6, $7)
