SELECT t.totals_id, t.terminal_id, t.device_id, t.closed_at, t.currency, t.total_minor, terminal_difference(t.totals_id) AS difference,
       (SELECT i.item_id FROM reconciliation_items i
         WHERE i.subject = 'totals:' || t.totals_id ORDER BY i.opened_at DESC LIMIT 1) AS item_id
  FROM terminal_totals t WHERE t.totals_id = $1
