INSERT INTO consumer_offsets (consumer, snap) VALUES ($1, $2::text::pg_snapshot) ON CONFLICT (consumer) DO NOTHING;
