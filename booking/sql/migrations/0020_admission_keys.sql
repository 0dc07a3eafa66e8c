-- Several rooms may serve one database: each names its own keys, those that it publishes and those that it no longer does. A room
-- that publishes nothing any more (its folder is lost) cannot retire its keys: they count for a day after its last word.
ALTER TABLE admission_keys ADD COLUMN published_at timestamptz;
UPDATE admission_keys SET published_at = booking_now();
ALTER TABLE admission_keys ALTER COLUMN published_at SET NOT NULL;
