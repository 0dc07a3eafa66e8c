SELECT code, result_id, replayed, detail, seats FROM set_device_reader($1, $2, $3, $4, $5, $6, $7)
