-- $1 principal, $2 key, $3 digest, $4 venue_id, $5 plan_id
SELECT spend_key($1, 'plan-save', $2, $3, $4, $5, booking_now())
