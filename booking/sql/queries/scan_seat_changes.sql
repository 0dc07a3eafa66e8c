-- One scan for all events. The snapshot returned is the one the scan itself used: each outbox row is visible for the
-- first time in exactly one scan. Ids of changes to one seat rise in their order, because rows are written after the
-- seat locks. is_late: a hold that came to be seen after its own end. Rows without seats tell that places of tiers changed.
SELECT pg_current_snapshot()::text AS snap, o.id, o.event_id, o.seats, o.seat_states, o.seat_versions,
       coalesce(o.until <= t.now, false) AS is_late, o.type
  FROM (SELECT booking_now() AS now OFFSET 0) t
  LEFT JOIN outbox o
         ON o.xid >= pg_snapshot_xmin($1::text::pg_snapshot)
        AND NOT pg_visible_in_snapshot(o.xid, $1::text::pg_snapshot)
        AND (cardinality(o.seats) > 0 OR o.type IN ('places-changed', 'tier-changed'))
 ORDER BY o.id;
