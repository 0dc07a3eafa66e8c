SELECT p.operation_id, p.order_id, p.part, p.kind, p.status, p.provider, p.amount_minor, p.currency, p.device_id,
       p.provider_ref, p.decline_code, p.next_action, p.tendered_minor, p.change_minor, p.created_at, p.updated_at,
       p.parent_id, p.idempotency_key, p.payment_method, p.attempts, p.card_brand, p.void_requested
  FROM payment_operations p
 WHERE p.operation_id = ANY ($1::uuid[])
 ORDER BY p.created_at, p.operation_id
