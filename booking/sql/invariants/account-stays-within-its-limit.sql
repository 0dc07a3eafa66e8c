-- R8: tickets of a fan's account in an event, bought or held, within the highest limit that has bound it: an access code may
-- have raised it, and operators may have lowered the event's since.
SELECT format('%s has %s tickets in event %s, the limit is %s', have.principal, sum(have.seats), have.event_id,
              min(e.max_per_account)) AS detail
  FROM (SELECT o.event_id, o.principal, count(*) AS seats
          FROM orders o
          JOIN (SELECT s.order_id, s.valid FROM order_seats s
                UNION ALL SELECT p.order_id, p.valid FROM order_places p) l USING (order_id)
         WHERE l.valid AND o.channel = 'online' GROUP BY 1, 2
        UNION ALL
        SELECT h.event_id, h.principal, sum(cardinality(h.seats) + h.places)
          FROM holds h
         WHERE h.channel = 'online'
           AND (h.status = 'PAYMENT_PENDING' OR (h.status = 'HELD' AND h.expires_at > booking_now()))
         GROUP BY 1, 2) have
  JOIN events e ON e.event_id = have.event_id
 GROUP BY have.event_id, have.principal HAVING sum(have.seats) > greatest(
    min(e.max_per_account),
    (SELECT l.raised_to FROM account_limits l WHERE l.event_id = have.event_id AND l.principal = have.principal),
    (SELECT max((a.detail -> 'from' ->> 'max_per_account')::integer) FROM audit_log a
      WHERE a.action = 'settings-changed' AND a.subject = have.event_id::text))
