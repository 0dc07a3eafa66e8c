-- R27: one open item for one thing, and its money and event are those of its order.
SELECT format('%s open items of kind %s about %s', count(*), i.kind, coalesce(nullif(i.subject, ''), i.operation_id::text))
       AS detail
  FROM reconciliation_items i
 WHERE i.resolved_at IS NULL AND (i.subject <> '' OR i.operation_id IS NOT NULL)
 GROUP BY i.kind, i.subject, i.operation_id HAVING count(*) > 1
UNION ALL
SELECT format('item %s (%s) is about order %s of event %s, and names event %s', i.item_id, i.kind, o.order_id, o.event_id,
              i.event_id)
  FROM reconciliation_items i JOIN orders o USING (order_id)
 WHERE i.event_id IS DISTINCT FROM o.event_id OR i.currency <> '' AND i.currency <> o.currency
       AND i.kind <> 'currency-differs'
UNION ALL
SELECT format('item %s (%s) is about operation %s of order %s, and names order %s', i.item_id, i.kind, p.operation_id,
              p.order_id, i.order_id)
  FROM reconciliation_items i JOIN payment_operations p USING (operation_id)
 WHERE i.order_id IS DISTINCT FROM p.order_id
