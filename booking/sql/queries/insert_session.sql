INSERT INTO staff_sessions (session_id, staff_id, device_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5);
