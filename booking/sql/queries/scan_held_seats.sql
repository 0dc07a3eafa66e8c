-- Holds announced since the snapshot, with the snapshot of this very scan and the time. A hold that came back from a
-- payment is announced by its order. What ended long ago is left to the sweeper. One row without hold when there is none.
SELECT pg_current_snapshot()::text AS snap, t.now, held.hold_id, held.until
  FROM (SELECT booking_now() AS now OFFSET 0) t
  LEFT JOIN (SELECT coalesce(oh.hold_id, o.aggregate_id) AS hold_id, o.until, o.id
               FROM outbox o
               LEFT JOIN order_holds oh ON oh.order_id = o.aggregate_id
              WHERE o.xid >= pg_snapshot_xmin($1::text::pg_snapshot)
                AND NOT pg_visible_in_snapshot(o.xid, $1::text::pg_snapshot)
                AND o.until IS NOT NULL AND o.type IN ('seats-held', 'places-changed')) held
         ON held.until > t.now - interval '1 minute'
 ORDER BY held.id;
