-- B17: the uses counted at an access code are the accounts that used it, and no limit was raised without a use.
SELECT format('code %s of event %s: %s accounts used it, %s stored', c.code, c.event_id, count(u.principal), c.uses)
       AS detail
  FROM access_codes c
  LEFT JOIN access_code_uses u ON u.event_id = c.event_id AND u.code = c.code
 WHERE c.max_uses IS NOT NULL
 GROUP BY c.event_id, c.code HAVING count(u.principal) <> c.uses
UNION ALL
SELECT format('the limit of %s in event %s was raised to %s by no code', a.principal, a.event_id, a.raised_to)
  FROM account_limits a
 WHERE a.raised_to > coalesce((SELECT max(u.max_per_account) FROM access_code_uses u
                                WHERE u.event_id = a.event_id AND u.principal = a.principal), 0)
