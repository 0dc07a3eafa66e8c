-- The renewal that a secret belongs to, locked: the one whose turn it is before one that had it earlier.
SELECT r.renewal_id, r.account_id, r.secret_digest, r.former_digest, r.renewed_at, r.expires_at, r.ended_at,
       a.created_at AS account_created_at
  FROM account_renewals r JOIN accounts a USING (account_id)
 WHERE $1 IN (r.secret_digest, r.former_digest)
 ORDER BY r.secret_digest = $1 DESC LIMIT 1
   FOR NO KEY UPDATE OF r;
