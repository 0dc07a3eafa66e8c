UPDATE account_renewals SET ended_at = $2, ended_reason = $3 WHERE renewal_id = $1 AND ended_at IS NULL;
