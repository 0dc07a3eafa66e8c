-- What a provider told of a charge that nobody here knows stays evidence of the item about that charge. Few are ever stray.
CREATE INDEX stray_provider_events ON provider_events (provider, (body ->> 'provider_ref')) WHERE state = 'stray';
