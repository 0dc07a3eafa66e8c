INSERT INTO feed_heartbeat (sequenced_at) VALUES (booking_now())
ON CONFLICT (only_row) DO UPDATE SET sequenced_at = excluded.sequenced_at;
