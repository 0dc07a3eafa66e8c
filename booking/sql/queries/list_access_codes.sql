SELECT c.access_code_id, c.event_id, c.code, c.max_per_account, c.max_uses, c.valid_until,
       CASE WHEN c.max_uses IS NOT NULL THEN c.uses
            ELSE (SELECT count(*) FROM access_code_uses u WHERE u.event_id = c.event_id AND u.code = c.code) END AS uses
  FROM access_codes c
 WHERE c.event_id = $1 AND ($2::uuid IS NULL OR c.access_code_id = $2)
 ORDER BY c.created_at, c.code
