SELECT code, result_id, replayed, detail, seats FROM report_print_job($1, $2, $3, $4, $5, $6, $7)
