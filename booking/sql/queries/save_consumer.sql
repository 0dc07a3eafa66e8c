UPDATE consumer_offsets SET snap = $2::text::pg_snapshot, updated_at = $3 WHERE consumer = $1;
