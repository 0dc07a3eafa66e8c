-- From the beginning: the oldest rows, at most $2, up to the first one that is younger than $1 or that a consumer has not read.
-- None at all before each of the consumers $3 has a place.
-- A prefix by id keeps the last change of each seat that stays in the table the last one.
WITH clock AS MATERIALIZED (
    SELECT booking_now() - $1::interval AS before
     WHERE NOT EXISTS (SELECT FROM unnest($3::text[]) AS needed (consumer)
                        WHERE NOT EXISTS (SELECT FROM consumer_offsets k WHERE k.consumer = needed.consumer))
), first AS MATERIALIZED (
    SELECT o.id, o.created_at < c.before
           AND NOT EXISTS (SELECT FROM consumer_offsets k WHERE NOT pg_visible_in_snapshot(o.xid, k.snap)) AS is_old
      FROM clock c CROSS JOIN LATERAL (SELECT * FROM outbox o ORDER BY o.id LIMIT $2) o
), gone AS (
    DELETE FROM outbox o
     WHERE o.id IN (SELECT f.id FROM first f WHERE f.is_old)
       AND o.id < coalesce((SELECT min(f.id) FROM first f WHERE NOT f.is_old), 9223372036854775807)
    RETURNING 1
)
SELECT count(*) FROM gone;
