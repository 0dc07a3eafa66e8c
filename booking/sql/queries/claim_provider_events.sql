SELECT provider, event_ref, body::text AS body FROM claim_provider_events($1)
