-- Purchases that have spent their slots since $1, of the events $2: some are told twice, because a commit may come late.
SELECT s.event_id, s.principal, s.slot_id
  FROM admission_sessions s
 WHERE s.spent_at > $1::timestamptz - interval '15 s' AND s.event_id = ANY ($2::int[])
