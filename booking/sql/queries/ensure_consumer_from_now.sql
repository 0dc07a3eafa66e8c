INSERT INTO consumer_offsets (consumer, snap) VALUES ($1, pg_current_snapshot()) ON CONFLICT (consumer) DO NOTHING;
