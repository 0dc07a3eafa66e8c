-- What each worker has before it: how many items, since when the oldest of them waits, and when the worker was last seen.
-- Counts stop at 10,000: more than that is an alarm, whatever the number.
WITH clock AS MATERIALIZED (
    SELECT booking_now() AS now
), unread AS (
    SELECT k.consumer, k.updated_at, count(o.id) AS backlog, min(o.created_at) AS oldest
      FROM consumer_offsets k
      LEFT JOIN LATERAL (SELECT o.id, o.created_at FROM outbox o
                          WHERE o.xid >= pg_snapshot_xmin(k.snap) AND NOT pg_visible_in_snapshot(o.xid, k.snap)
                          ORDER BY o.xid LIMIT 10000) o ON true
     WHERE k.consumer <> 'hold-expiry'
     GROUP BY k.consumer, k.updated_at
), overdue AS (
    SELECT h.status, h.expires_at FROM clock c JOIN holds h ON h.expires_at <= c.now
     WHERE h.status IN ('HELD', 'PAYMENT_PENDING')
     ORDER BY h.expires_at LIMIT 10000
), due AS (
    SELECT p.next_attempt_at FROM clock c JOIN payment_operations p ON p.next_attempt_at <= c.now
     ORDER BY p.next_attempt_at LIMIT 10000
)
SELECT f.worker, f.backlog, extract(epoch FROM c.now - f.oldest)::float8 AS oldest_s,
       extract(epoch FROM c.now - f.seen)::float8 AS seen_s
  FROM clock c
 CROSS JOIN LATERAL (
    SELECT u.consumer AS worker, u.backlog, u.oldest,
           CASE u.consumer WHEN 'sequencer' THEN (SELECT max(b.sequenced_at) FROM feed_heartbeat b)
                           ELSE u.updated_at END AS seen
      FROM unread u
    UNION ALL
    SELECT 'hold-expiry', count(*), min(o.expires_at),
           (SELECT k.updated_at FROM consumer_offsets k WHERE k.consumer = 'hold-expiry')
      FROM overdue o WHERE o.status = 'HELD'
    UNION ALL
    SELECT 'sweeper', count(*), min(o.expires_at), NULL FROM overdue o
    UNION ALL
    SELECT 'payments', count(*), min(d.next_attempt_at), NULL FROM due d
    UNION ALL
    SELECT 'webhooks', count(*), min(w.received_at), NULL
      FROM (SELECT e.received_at FROM provider_events e WHERE e.next_attempt_at IS NOT NULL
             ORDER BY e.next_attempt_at LIMIT 10000) w
    UNION ALL
    SELECT 'retention', 0, (SELECT o.created_at FROM outbox o ORDER BY o.id LIMIT 1), NULL
 ) f
 ORDER BY f.worker;
