-- Read after the session was locked; with whether the successor has been used in its turn.
SELECT t.used_at, t.successor_sealed,
       EXISTS (SELECT FROM staff_refresh_tokens n WHERE n.digest = t.successor_digest AND n.used_at IS NOT NULL)
           AS successor_used
  FROM staff_refresh_tokens t WHERE t.digest = $1;
