SELECT booking_now() AS server_time, (SELECT max(sequenced_at) FROM feed_heartbeat) AS sequenced_at;
