-- R8: no second hold of a fan before the first one ends or is paid.
SELECT format('%s has %s open holds in event %s', h.principal, count(*), h.event_id) AS detail
  FROM holds h
 WHERE h.channel = 'online'
   AND (h.status = 'PAYMENT_PENDING' OR (h.status = 'HELD' AND h.expires_at > booking_now()))
 GROUP BY h.event_id, h.principal HAVING count(*) > 1
