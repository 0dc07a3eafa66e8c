-- $1 principal, $2 key, $3 digest, $4 venue_id: what this key stored before (result_id: the plan); code NULL when it is new.
SELECT * FROM seen_key($1, 'plan-save', $2, $3, $4)
