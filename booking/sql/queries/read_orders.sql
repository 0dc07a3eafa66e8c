SELECT order_id, principal, picture FROM orders_as_json($1)
