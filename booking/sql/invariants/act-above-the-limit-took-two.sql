-- R33: who asked for an act that needs a second person did not approve it; what was approved was done, and is in the audit log.
SELECT format('approval %s of item %s was asked and given by %s', a.approval_id, a.item_id, a.asked_by) AS detail
  FROM item_approvals a WHERE a.decision = 'approved' AND a.decided_by = a.asked_by
UNION ALL
SELECT format('approval %s of item %s was given, and nobody wrote that down', a.approval_id, a.item_id)
  FROM item_approvals a
 WHERE a.decision = 'approved'
   AND NOT EXISTS (SELECT FROM audit_log l WHERE l.subject = a.item_id::text AND l.action = 'item-approval-given')
