SELECT p.document FROM plans p WHERE p.plan_id = $1 AND p.version = $2
