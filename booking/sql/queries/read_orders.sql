SELECT order_id, principal, picture FROM read_orders($1)
