-- $1 venue_id, $2 plan_id, $3 plan_version, $4 name, $5 starts_at, $6 zone, $7 currency, $8 sale_opens_at or NULL for
-- now, $9 hold_ttl_s, $10 grace_s, $11 max_per_account. Answers the event's number.
INSERT INTO events (venue_id, plan_id, plan_version, name, starts_at, zone, currency, sale_opens_at, hold_ttl_s, grace_s,
                    max_per_account)
VALUES ($1, $2, $3, $4, $5, $6, $7, coalesce($8, booking_now()), $9, $10, $11)
RETURNING event_id
