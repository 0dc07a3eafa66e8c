SELECT note_refund_by_hand($1, $2, $3, $4, $5, $6::jsonb)
