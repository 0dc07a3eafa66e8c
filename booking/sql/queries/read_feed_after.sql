SELECT booking_now() AS server_time, (SELECT coalesce(max(sequenced_at), 'epoch') FROM feed_heartbeat) AS sequenced_at,
       w.event_id, f.epoch, f.last_version, s.version, s.body
  FROM unnest($1::int[], $2::bigint[]) AS w (event_id, after)
  JOIN event_feed f ON f.event_id = w.event_id
  LEFT JOIN LATERAL (
       SELECT version, body FROM seat_feed s
        WHERE s.event_id = w.event_id AND s.version > w.after ORDER BY version LIMIT 500) s ON true
 ORDER BY w.event_id, s.version;
