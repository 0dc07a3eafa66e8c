INSERT INTO login_attempts (name, device_id, failures, last_failed_at) VALUES ($1, $2, 0, $3)
ON CONFLICT (name, device_id) DO NOTHING;
