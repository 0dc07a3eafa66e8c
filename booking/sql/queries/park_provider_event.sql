SELECT park_provider_event($1, $2, $3)
