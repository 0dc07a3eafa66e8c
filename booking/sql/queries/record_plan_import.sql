-- $1 principal, $2 subject, $3 detail (JSON text): what was imported and which repairs were made.
INSERT INTO audit_log (principal, action, subject, detail) VALUES ($1, 'plan-imported', $2, $3::jsonb)
