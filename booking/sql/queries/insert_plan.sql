-- $1 plan_id, $2 version, $3 venue_id, $4 name, $5 document, $6 seat_count, $7 digest, $8 the document as it came or NULL.
INSERT INTO plans (plan_id, version, venue_id, name, document, seat_count, digest, source)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
