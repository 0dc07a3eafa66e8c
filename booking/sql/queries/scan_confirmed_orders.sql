-- Orders confirmed, or settled by a supervisor, since the snapshot, with the snapshot of this very scan; one row without order when there is none.
SELECT pg_current_snapshot()::text AS snap, o.aggregate_id AS order_id
  FROM (SELECT 1) AS always
  LEFT JOIN outbox o
         ON o.xid >= pg_snapshot_xmin($1::text::pg_snapshot)
        AND NOT pg_visible_in_snapshot(o.xid, $1::text::pg_snapshot)
        AND o.type IN ('order-confirmed', 'order-settled')
 ORDER BY o.id;
