DELETE FROM login_attempts WHERE last_failed_at < booking_now() - interval '1 day';
