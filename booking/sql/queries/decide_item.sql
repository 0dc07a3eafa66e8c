SELECT code, result_id, replayed, detail, seats FROM decide_item($1, $2, $3, $4, $5, $6, $7::uuid[], $8, $9);
