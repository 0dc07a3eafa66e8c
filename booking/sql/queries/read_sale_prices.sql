SELECT e.event_id, e.currency, array_agg(DISTINCT p.amount_minor ORDER BY p.amount_minor) AS amounts
  FROM events e JOIN prices p ON p.event_id = e.event_id AND p.price_version = e.price_version
 WHERE ($1::integer IS NULL OR e.event_id = $1) AND e.status <> 'CANCELLED'
 GROUP BY e.event_id, e.currency
 ORDER BY e.event_id
