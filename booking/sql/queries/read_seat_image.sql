-- States and versions of all seats with the feed's position, in one snapshot. The versions are big-endian u32.
-- What was held or kept until now is shown as free: no view waits for the sweeper (R5).
WITH clock AS MATERIALIZED (SELECT booking_now() AS now)
SELECT e.plan_version, f.epoch, f.last_version,
       (SELECT coalesce(max(sequenced_at), 'epoch') FROM feed_heartbeat) AS sequenced_at,
       coalesce(string_agg(substr(int2send(CASE WHEN seat_is_free(s.status, s.hold_expires_at, c.now) THEN 0::smallint
                                                ELSE staff_byte(s.status, s.holder, s.printed, s.used) END), 2, 1),
                           ''::bytea ORDER BY s.seat_no), ''::bytea) AS states,
       coalesce(string_agg(int4send(s.version), ''::bytea ORDER BY s.seat_no), ''::bytea) AS seat_versions
  FROM clock c CROSS JOIN events e JOIN event_feed f USING (event_id) LEFT JOIN seats s USING (event_id)
 WHERE e.event_id = $1
 GROUP BY e.event_id, f.event_id;
