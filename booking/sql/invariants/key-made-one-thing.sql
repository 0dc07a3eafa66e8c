-- R6: what a key made exists, and no other key claims to have made it.
SELECT format('%s of key %s (%s) does not exist', i.result_id, i.key, i.route) AS detail
  FROM idempotency i
 WHERE NOT CASE i.route
        WHEN 'checkout' THEN EXISTS (SELECT FROM orders o WHERE o.order_id = i.result_id)
        WHEN 'payments' THEN EXISTS (SELECT FROM payment_operations p WHERE p.operation_id = i.result_id)
        WHEN 'print-jobs' THEN EXISTS (SELECT FROM print_jobs j WHERE j.print_job_id = i.result_id)
        WHEN 'refunds' THEN EXISTS (SELECT FROM money_backs a WHERE a.money_back_id = i.result_id AND a.kind = 'refund')
        WHEN 'cancel-tickets' THEN EXISTS (
             SELECT FROM money_backs a WHERE a.money_back_id = i.result_id AND a.kind = 'cancel')
        ELSE true END
UNION ALL
SELECT format('%s keys claim to have made %s (%s)', count(*), i.result_id, i.route)
  FROM idempotency i WHERE i.route IN ('checkout', 'payments', 'print-jobs', 'refunds', 'cancel-tickets')
 GROUP BY i.route, i.result_id HAVING count(*) > 1
