SELECT * FROM claim_run($1::text[], $2, $3, $4)
