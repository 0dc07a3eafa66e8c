SELECT code, result_id, replayed, detail, seats FROM set_channel_providers($1, $2, $3, $4::text[], $5, $6, $7)
