INSERT INTO feed_origin (system_identifier, timeline) VALUES ($1, $2)
ON CONFLICT (only_row) DO UPDATE SET system_identifier = $1, timeline = $2;
