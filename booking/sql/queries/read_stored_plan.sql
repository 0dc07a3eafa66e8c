-- $1 plan_id, $2 version or NULL for the newest.
SELECT version, name, document FROM plans
WHERE plan_id = $1 AND ($2::integer IS NULL OR version = $2)
ORDER BY version DESC LIMIT 1
