UPDATE staff_sessions SET revoked_at = booking_now(), revoked_reason = $2 WHERE staff_id = $1 AND revoked_at IS NULL;
