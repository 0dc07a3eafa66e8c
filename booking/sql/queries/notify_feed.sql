SELECT pg_notify('seat_feed', $1);
