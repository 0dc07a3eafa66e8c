-- $1 venue_id. Saves into one venue wait for each other and for imports (lock_venue).
SELECT venue_id FROM venues WHERE venue_id = $1 FOR NO KEY UPDATE
