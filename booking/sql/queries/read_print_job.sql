SELECT j.print_job_id, j.order_id, j.ticket_ids, j.printer, j.status, j.detail, j.created_at
  FROM print_jobs j
 WHERE j.print_job_id = $1
