-- R4, R5: no hold expires before its deadline, whoever says so: the scan, a message that came early, another buyer.
SELECT format('hold %s ended as expired at %s, before its deadline %s', h.hold_id, h.ended_at, h.expires_at) AS detail
  FROM holds h
 WHERE h.status = 'EXPIRED' AND h.ended_at < h.expires_at
