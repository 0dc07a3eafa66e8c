-- R18: a slot of the waiting room is one account's, and one purchase ends it, for ever (W3).
WITH admitted AS (
    SELECT s.event_id, s.slot_id, s.principal, s.spent_at, s.spent_by FROM admission_sessions s
    UNION ALL
    SELECT p.event_id, p.slot_id, p.principal, p.spent_at, p.spent_by FROM admission_past p
)
SELECT format('slot %s of event %s: %s accounts, spent %s times', a.slot_id, a.event_id, count(DISTINCT a.principal),
              count(a.spent_at)) AS detail
  FROM admitted a
 GROUP BY a.event_id, a.slot_id HAVING count(a.spent_at) > 1 OR count(DISTINCT a.principal) > 1
UNION ALL
SELECT format('slot %s of event %s is spent by order %s, which is not a confirmed one of %s', a.slot_id, a.event_id,
              a.spent_by, a.principal)
  FROM admitted a
 WHERE a.spent_by IS NOT NULL
   AND NOT EXISTS (SELECT FROM orders o
                    WHERE o.order_id = a.spent_by AND o.event_id = a.event_id AND o.principal = a.principal
                      AND o.confirmed_at IS NOT NULL)
