UPDATE login_attempts SET failures = $3, last_failed_at = $4, blocked_until = $5 WHERE name = $1 AND device_id = $2;
