-- Whether a reader has something before it. The order makes it a walk along the index from where its snapshot begins: a look
-- for any row at all would be planned as a scan of the whole table, and find none in it most of the time.
SELECT (SELECT o.xid FROM outbox o
         WHERE o.xid >= (SELECT pg_snapshot_xmin(c.snap) FROM consumer_offsets c WHERE c.consumer = $1)
           AND NOT pg_visible_in_snapshot(o.xid, (SELECT c.snap FROM consumer_offsets c WHERE c.consumer = $1))
         ORDER BY o.xid LIMIT 1) IS NOT NULL;
