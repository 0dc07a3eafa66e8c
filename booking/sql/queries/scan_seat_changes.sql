-- One scan for all events. The snapshot returned is the one the scan itself used: each outbox row is visible for the
-- first time in exactly one scan. Ids of changes to one seat rise in their order, because rows are written after the
-- seat locks.
SELECT pg_current_snapshot()::text AS snap, o.id, o.event_id, o.seats, o.seat_states, o.seat_versions
  FROM (SELECT 1) AS always
  LEFT JOIN outbox o
         ON o.xid >= pg_snapshot_xmin($1::text::pg_snapshot)
        AND NOT pg_visible_in_snapshot(o.xid, $1::text::pg_snapshot)
        AND cardinality(o.seats) > 0
 ORDER BY o.id;
