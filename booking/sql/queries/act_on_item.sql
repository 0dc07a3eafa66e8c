SELECT code, result_id, replayed, detail, seats
  FROM act_on_item($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::uuid[], $15, $16);
