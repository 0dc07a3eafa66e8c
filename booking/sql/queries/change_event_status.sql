SELECT code, result_id, replayed, detail, seats FROM change_event_status($1, $2, $3, $4, $5, $6, $7, $8)
