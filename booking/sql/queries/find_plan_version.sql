-- $1 plan_id, $2 digest. The version that is this very plan.
SELECT version FROM plans WHERE plan_id = $1 AND digest = $2
