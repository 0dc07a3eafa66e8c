SELECT key_id, public_key FROM admission_keys
 WHERE retired_at IS NULL AND published_at > booking_now() - interval '1 day'
