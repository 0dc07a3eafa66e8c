UPDATE consumer_offsets SET snap = CASE WHEN consumer = $1 THEN pg_current_snapshot() ELSE '3:3:'::pg_snapshot END,
       updated_at = booking_now();
