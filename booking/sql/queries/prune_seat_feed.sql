DELETE FROM seat_feed WHERE created_at < booking_now() - make_interval(secs => $1);
