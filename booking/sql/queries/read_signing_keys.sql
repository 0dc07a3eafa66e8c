SELECT key_id, secret FROM api_keys WHERE purpose = 'access-token' AND retired_at IS NULL ORDER BY created_at, key_id;
