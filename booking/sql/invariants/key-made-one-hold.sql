-- R6: a replay makes no new state.
SELECT format('key %s of %s made %s holds in event %s', h.idem_key, h.principal, count(*), h.event_id) AS detail
  FROM holds h GROUP BY h.event_id, h.principal, h.idem_key HAVING count(*) > 1
