-- R33: an item that has ended says how, and when a person ended it, what he did is in the audit log with his reason.
SELECT format('item %s (%s) was resolved by "%s": "%s"', i.item_id, i.kind, i.resolved_by, i.resolution) AS detail
  FROM reconciliation_items i
 WHERE i.resolved_at IS NOT NULL AND (i.resolved_by = '' OR i.resolution = '')
UNION ALL
SELECT format('item %s (%s) was resolved by %s, and the audit log has no act of his with a reason', i.item_id, i.kind,
              i.resolved_by)
  FROM reconciliation_items i
 WHERE i.resolved_at IS NOT NULL AND i.resolved_by LIKE 'supervisor:%'
   AND NOT EXISTS (SELECT FROM audit_log l
                    WHERE l.action LIKE 'item-%' AND l.reason <> ''
                      AND (l.subject = i.item_id::text OR l.detail ->> 'order_id' = i.order_id::text
                           OR l.detail ->> 'attach_to' = i.order_id::text))
