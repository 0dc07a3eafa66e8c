INSERT INTO devices (device_id, name) VALUES ($1, $2)
ON CONFLICT (device_id) DO UPDATE SET name = $2, last_seen_at = booking_now();
