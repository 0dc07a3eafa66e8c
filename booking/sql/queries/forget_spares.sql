-- Secrets for another device that nobody has used yet: one at a time.
DELETE FROM account_renewals WHERE account_id = $1 AND renewed_at IS NULL AND is_spare AND ended_at IS NULL;
