SELECT code, result_id, replayed, detail, seats
  FROM refund_tickets($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
