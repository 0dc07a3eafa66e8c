SELECT code, result_id, replayed, detail, seats FROM release_house_hold($1, $2, $3, $4, $5, $6, $7)
