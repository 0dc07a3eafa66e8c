-- $1 venue_id, $2 name, $3 zone. Two imports at once make one venue.
INSERT INTO venues (venue_id, name, zone) VALUES ($1, $2, $3) ON CONFLICT ON CONSTRAINT venue_name_once DO NOTHING
