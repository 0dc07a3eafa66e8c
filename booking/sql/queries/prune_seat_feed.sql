WITH old AS MATERIALIZED (
    SELECT f.event_id, f.version FROM seat_feed f WHERE f.created_at < (SELECT booking_now() - $1::interval) LIMIT $2
       FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM seat_feed f USING old o WHERE f.event_id = o.event_id AND f.version = o.version RETURNING 1
)
SELECT count(*) FROM gone;
