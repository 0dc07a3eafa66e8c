-- Whether the sequencer has something to tell: a row that it has not seen, or a hold whose time ran out since it looked.
WITH place AS MATERIALIZED (
    SELECT c.snap, c.updated_at AS told_to, booking_now() AS now FROM consumer_offsets c WHERE c.consumer = $1
)
SELECT EXISTS (SELECT FROM place p JOIN outbox o ON o.xid >= pg_snapshot_xmin(p.snap)
                WHERE NOT pg_visible_in_snapshot(o.xid, p.snap))
    OR EXISTS (SELECT FROM place p JOIN holds h ON h.expires_at > p.told_to AND h.expires_at <= p.now
                WHERE h.status IN ('HELD', 'PAYMENT_PENDING') AND h.status = 'HELD')
    OR EXISTS (SELECT FROM place p JOIN house_holds h ON h.release_at > p.told_to AND h.release_at <= p.now
                WHERE h.released_at IS NULL AND h.release_at IS NOT NULL);
