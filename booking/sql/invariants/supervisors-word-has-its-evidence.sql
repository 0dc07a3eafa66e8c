-- R24, R33: what a supervisor decided of an operation stands in its evidence, by his name.
SELECT format('%s %s was decided by %s, and he gave no evidence', p.kind, p.operation_id, p.decided_by) AS detail
  FROM payment_operations p
 WHERE p.decided_by LIKE 'supervisor:%'
   AND NOT EXISTS (SELECT FROM operation_evidence e
                    WHERE e.source = p.decided_by AND e.operation_id IN (p.operation_id, p.parent_id))
