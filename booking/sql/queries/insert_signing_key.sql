-- Only when there is none; of two processes that start at once the second finds the key of the first.
INSERT INTO api_keys (key_id, purpose, secret)
SELECT $1, 'access-token', $2
 WHERE NOT EXISTS (SELECT FROM api_keys WHERE purpose = 'access-token' AND retired_at IS NULL);
