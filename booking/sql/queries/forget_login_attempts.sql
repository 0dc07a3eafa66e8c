WITH old AS MATERIALIZED (
    SELECT a.name, a.device_id FROM login_attempts a
     WHERE a.last_failed_at < (SELECT booking_now() - $1::interval) AND coalesce(a.blocked_until, '-infinity') < (SELECT booking_now())
     LIMIT $2 FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM login_attempts a USING old o WHERE a.name = o.name AND a.device_id = o.device_id RETURNING 1
)
SELECT count(*) FROM gone;
