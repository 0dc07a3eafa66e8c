SELECT wake_provider_events($1, $2) AS woken
