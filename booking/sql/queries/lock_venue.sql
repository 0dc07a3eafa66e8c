-- $1 name. Imports into one venue wait for each other, so that versions have no gaps and no twins.
SELECT venue_id, zone FROM venues WHERE name = $1 FOR NO KEY UPDATE
