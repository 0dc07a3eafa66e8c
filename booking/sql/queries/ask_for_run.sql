SELECT code, result_id, replayed, detail, seats FROM ask_for_run($1, $2, $3, $4, $5, $6, $7, $8, $9)
