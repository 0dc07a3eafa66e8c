-- Whether the sequencer has something to tell: a row that it has not seen (see is_anything_new), or what ended by its time
-- since it looked.
WITH place AS MATERIALIZED (
    SELECT c.snap, c.updated_at AS told_to, booking_now() AS now FROM consumer_offsets c WHERE c.consumer = $1
)
SELECT (SELECT o.xid FROM outbox o
         WHERE o.xid >= (SELECT pg_snapshot_xmin(p.snap) FROM place p)
           AND NOT pg_visible_in_snapshot(o.xid, (SELECT p.snap FROM place p))
         ORDER BY o.xid LIMIT 1) IS NOT NULL
    OR (SELECT h.expires_at FROM holds h
         WHERE h.status IN ('HELD', 'PAYMENT_PENDING') AND h.status = 'HELD'
           AND h.expires_at > (SELECT p.told_to FROM place p) AND h.expires_at <= (SELECT p.now FROM place p)
         ORDER BY h.expires_at LIMIT 1) IS NOT NULL
    OR (SELECT h.release_at FROM house_holds h
         WHERE h.released_at IS NULL AND h.release_at IS NOT NULL
           AND h.release_at > (SELECT p.told_to FROM place p) AND h.release_at <= (SELECT p.now FROM place p)
         ORDER BY h.release_at LIMIT 1) IS NOT NULL;
