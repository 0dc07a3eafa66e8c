UPDATE account_renewals SET former_digest = secret_digest, secret_digest = $2, renewed_at = $3, expires_at = $4
 WHERE renewal_id = $1;
