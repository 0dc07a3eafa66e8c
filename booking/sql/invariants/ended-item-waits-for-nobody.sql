-- R33: no second person is waited for where the item has ended.
SELECT format('item %s has ended, and approval %s still waits', i.item_id, a.approval_id) AS detail
  FROM item_approvals a JOIN reconciliation_items i USING (item_id)
 WHERE a.decision = '' AND i.resolved_at IS NOT NULL
