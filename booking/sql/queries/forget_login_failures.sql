DELETE FROM login_attempts WHERE name = $1 AND device_id = $2;
