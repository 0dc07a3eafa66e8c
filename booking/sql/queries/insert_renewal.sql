INSERT INTO account_renewals (renewal_id, account_id, secret_digest, is_spare, opened_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6);
