-- One stretch of keys in their order, after the key named by $1, $2, $3, at most $6 of them: those older than $4 whose
-- order has been over for $5 are deleted. Returns how many were, and the last key of the stretch; none at the end.
WITH clock AS MATERIALIZED (
    SELECT booking_now() AS now
), stretch AS MATERIALIZED (
    SELECT i.principal, i.route, i.key, i.subject_id, i.result_id, i.created_at
      FROM idempotency i
     WHERE (i.principal, i.route, i.key) > ($1, $2, $3)
     ORDER BY i.principal, i.route, i.key LIMIT $6
), old AS MATERIALIZED (
    SELECT i.principal, i.route, i.key
      FROM clock c
      JOIN stretch s ON s.created_at <= c.now - $4::interval
      JOIN idempotency i USING (principal, route, key)
     WHERE is_key_forgettable(s.subject_id, s.result_id, c.now - $5::interval)
       FOR UPDATE OF i SKIP LOCKED
), gone AS (
    DELETE FROM idempotency i USING old o
     WHERE i.principal = o.principal AND i.route = o.route AND i.key = o.key
    RETURNING 1
)
SELECT last.principal, last.route, last.key, (SELECT count(*) FROM gone) AS gone
  FROM (SELECT * FROM stretch ORDER BY principal DESC, route DESC, key DESC LIMIT 1) last;
