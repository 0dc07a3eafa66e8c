-- Only from where it was read: a second reader of that name that was faster is left alone.
UPDATE consumer_offsets SET snap = $3::text::pg_snapshot, updated_at = booking_now()
 WHERE consumer = $1 AND snap::text = $2;
