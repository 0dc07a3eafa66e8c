SELECT settle_provider_event($1, $2, $3, $4, $5) AS settled
