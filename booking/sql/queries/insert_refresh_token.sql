INSERT INTO staff_refresh_tokens (digest, session_id, issued_at) VALUES ($1, $2, $3);
