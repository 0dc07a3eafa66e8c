-- The newest $2 runs, or run $1 alone.
SELECT r.run_id, r.provider, r.day, r.state, r.read, r.expected, r.matched, r.differences::text AS differences, r.opened_items,
       r.started_at, r.ended_at, person_name(r.started_by) AS started_by, r.detail, booking_now() AS server_time
  FROM reconciliation_runs r
 WHERE $1::uuid IS NULL OR r.run_id = $1
 ORDER BY r.started_at DESC, r.run_id DESC LIMIT $2
