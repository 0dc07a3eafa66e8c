-- An event of a charge that nobody here knows yet waits for it, and is found by the provider's name of the charge. An account at a
-- provider that others use as well has many that are nobody's.
CREATE INDEX parked_provider_events ON provider_events (provider, (body ->> 'provider_ref')) WHERE state = 'parked';
