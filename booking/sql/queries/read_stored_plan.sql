-- $1 plan_id, $2 version or NULL for the newest. The document as it came, its seats in their own order.
SELECT version, name, coalesce(source, document) AS document FROM plans
WHERE plan_id = $1 AND ($2::integer IS NULL OR version = $2)
ORDER BY version DESC LIMIT 1
