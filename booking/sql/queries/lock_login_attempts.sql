SELECT failures, last_failed_at, blocked_until FROM login_attempts WHERE name = $1 AND device_id = $2 FOR UPDATE;
