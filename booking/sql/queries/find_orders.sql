SELECT order_id, event_id, event_name, number, status, amount_minor, currency, created_at, plan_id, plan_version, seats, places,
       buyer, open_items
  FROM find_orders($1, $2, $3, $4, $5, $6, $7)
