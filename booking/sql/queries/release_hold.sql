SELECT code, result_id, replayed, detail, seats FROM release_hold($1, $2, $3, $4, $5)
