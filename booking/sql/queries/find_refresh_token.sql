SELECT session_id FROM staff_refresh_tokens WHERE digest = $1;
