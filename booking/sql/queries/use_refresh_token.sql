UPDATE staff_refresh_tokens SET used_at = $2, successor_sealed = $3, successor_digest = $4 WHERE digest = $1;
