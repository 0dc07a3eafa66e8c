-- R25: a refund is accepted when money of it went back, refused when none did and none can, and waits otherwise (P19); it
-- sends as much back as its tickets cost; what is opened later is instead of what was refused.
SELECT format('refund %s is %s: %s of its operations succeeded, %s are under way', w.money_back_id, w.status, w.done, w.live)
       AS detail
  FROM (SELECT a.money_back_id, a.status, a.amount_minor,
               count(p.operation_id) FILTER (WHERE p.status = 'SUCCEEDED') AS done,
               count(p.operation_id) FILTER (WHERE p.status NOT IN ('SUCCEEDED', 'DECLINED')) AS live
          FROM money_backs a LEFT JOIN payment_operations p USING (money_back_id)
         WHERE a.kind = 'refund' GROUP BY a.money_back_id) w
 WHERE w.status <> CASE WHEN w.done > 0 OR w.amount_minor = 0 THEN 'ACCEPTED' WHEN w.live > 0 THEN 'PENDING' ELSE 'REFUSED' END
UNION ALL
SELECT format('refund %s gives %s back, its lines cost %s and its operations are of %s', a.money_back_id, a.amount_minor, l.minor,
              coalesce(p.minor, 0))
  FROM money_backs a
  JOIN (SELECT l.money_back_id, sum(l.amount_minor) AS minor FROM money_back_lines l GROUP BY 1) l USING (money_back_id)
  LEFT JOIN (SELECT p.money_back_id, coalesce(sum(p.amount_minor) FILTER (WHERE p.created_at = b.created_at), 0) AS minor,
                    coalesce(sum(p.amount_minor) FILTER (WHERE p.status <> 'DECLINED'), 0) AS going
               FROM payment_operations p JOIN money_backs b USING (money_back_id) GROUP BY 1) p USING (money_back_id)
 WHERE a.kind = 'refund'
   AND (l.minor <> a.amount_minor OR coalesce(p.minor, 0) <> a.amount_minor OR coalesce(p.going, 0) > a.amount_minor)
