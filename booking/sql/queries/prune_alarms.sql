WITH old AS MATERIALIZED (
    SELECT a.alarm_id FROM alarms a
     WHERE a.cleared_at IS NOT NULL AND a.raised_at < booking_now() - $1::interval ORDER BY a.raised_at LIMIT $2
), gone AS (
    DELETE FROM alarms a USING old o WHERE a.alarm_id = o.alarm_id RETURNING 1
)
SELECT count(*) FROM gone
