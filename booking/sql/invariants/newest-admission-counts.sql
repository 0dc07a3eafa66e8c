-- R18: the session of the highest generation is in, and none comes back; a spent slot stays spent (W6).
SELECT format('%s in event %s: generation %s of slot %s after generation %s of slot %s%s', s.principal, s.event_id,
              s.generation, s.slot_id, p.generation, p.slot_id, CASE WHEN p.spent_at IS NULL THEN '' ELSE ', spent' END
       ) AS detail
  FROM admission_sessions s
  JOIN admission_past p ON p.event_id = s.event_id AND p.principal = s.principal
 WHERE p.generation >= s.generation OR (p.slot_id = s.slot_id AND p.spent_at IS NOT NULL)
