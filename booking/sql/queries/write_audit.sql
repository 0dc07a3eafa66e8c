INSERT INTO audit_log (principal, action, subject, reason, detail) VALUES ($1, $2, $3, $4, $5::text::jsonb);
