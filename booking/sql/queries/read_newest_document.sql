SELECT document FROM plans WHERE plan_id = $1 ORDER BY version DESC LIMIT 1
