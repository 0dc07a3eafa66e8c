UPDATE consumer_offsets SET snap = $2::text::pg_snapshot, updated_at = booking_now() WHERE consumer = $1;
