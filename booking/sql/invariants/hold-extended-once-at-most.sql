-- R4, R7: no hold outlives the longest time to live and one grace.
SELECT format('hold %s was made at %s and ends at %s', h.hold_id, h.created_at, h.expires_at) AS detail
  FROM holds h
 WHERE h.expires_at > h.created_at + interval '1800 s'
    OR (NOT h.grace_used AND h.expires_at > h.created_at + interval '900 s')
