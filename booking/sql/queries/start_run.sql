SELECT start_run($1, $2, $3, $4, $5, $6) AS run_id
