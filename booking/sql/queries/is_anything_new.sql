SELECT EXISTS (
    SELECT FROM consumer_offsets c JOIN outbox o ON o.xid >= pg_snapshot_xmin(c.snap)
     WHERE c.consumer = $1 AND NOT pg_visible_in_snapshot(o.xid, c.snap));
