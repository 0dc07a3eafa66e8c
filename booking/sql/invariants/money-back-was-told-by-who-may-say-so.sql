-- R25, R26, R27: that money was captured, let go or given back was said by its provider, by the till that drove it or paid it out, or by a
-- supervisor; the authority says of what was never sent that it will not be.
SELECT format('%s %s of %s is %s because %s said so', p.kind, p.operation_id, p.provider, p.status, p.decided_by) AS detail
  FROM payment_operations p LEFT JOIN payment_operations c ON c.operation_id = p.parent_id
 WHERE p.kind IN ('capture', 'void', 'refund') AND p.status IN ('SUCCEEDED', 'DECLINED')
   AND p.decided_by NOT LIKE 'supervisor:_%'
   AND NOT CASE WHEN p.at_till THEN p.decided_by = 'device:' || p.device_id
                                    OR p.provider = 'cash' AND p.decided_by = 'drawer:' || p.principal
                WHEN p.kind = 'void' AND c.kind = 'sale' THEN p.decided_by = 'device:' || p.device_id
                WHEN p.decided_by = 'authority' THEN p.kind = 'capture' AND p.status = 'DECLINED'
                ELSE p.decided_by = 'provider:' || p.provider END
