WITH old AS MATERIALIZED (
    SELECT m.event_id, m.minute FROM figures_minutes m WHERE m.minute < booking_now() - $1::interval LIMIT $2
), gone AS (
    DELETE FROM figures_minutes m USING old o WHERE m.event_id = o.event_id AND m.minute = o.minute RETURNING 1
)
SELECT count(*) FROM gone
