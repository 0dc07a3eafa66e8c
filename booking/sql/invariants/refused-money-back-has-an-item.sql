-- R25: money that was to go back and did not is known to a person, wherever its ticket or its sale is gone: of an act that other
-- money made final, and of a charge that pays nothing.
SELECT format('%s %s of order %s was refused, nobody was told, and %s', p.kind, p.operation_id, p.order_id,
              CASE WHEN a.status = 'ACCEPTED' THEN 'its tickets are void' ELSE 'its charge pays nothing' END) AS detail
  FROM payment_operations p
  JOIN payment_operations c ON c.operation_id = p.parent_id
  LEFT JOIN money_backs a ON a.money_back_id = p.money_back_id
 WHERE p.kind IN ('void', 'refund') AND p.status = 'DECLINED'
   AND (a.status = 'ACCEPTED' OR c.status = 'SUCCEEDED' AND c.advice = 'reverse')
   AND NOT EXISTS (SELECT FROM reconciliation_items i WHERE i.operation_id = p.operation_id)
