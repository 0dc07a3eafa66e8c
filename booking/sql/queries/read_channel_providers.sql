SELECT event_id, channel, providers, changed_at, changed_by FROM channel_providers ORDER BY event_id NULLS FIRST, channel
