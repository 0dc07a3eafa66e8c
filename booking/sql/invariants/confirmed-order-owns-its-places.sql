-- R22, R39: an order has the places of its holds, tier by tier; all of them are valid when it is confirmed, none before; and
-- each costs what the order's price version says for its tier's category.
SELECT format('order %s is %s: tier %s has %s lines, its holds %s places', o.order_id, o.status,
              coalesce(l.tier_id, g.tier_id), coalesce(l.lines, 0), coalesce(g.places, 0)) AS detail
  FROM (SELECT p.order_id, p.tier_id, count(*) AS lines FROM order_places p GROUP BY 1, 2) l
  FULL JOIN (SELECT oh.order_id, x.tier_id, sum(x.quantity) AS places
               FROM order_holds oh JOIN ga_holds x USING (hold_id) WHERE oh.live GROUP BY 1, 2) g USING (order_id, tier_id)
  JOIN orders o ON o.order_id = coalesce(l.order_id, g.order_id)
 WHERE o.status IN ('PENDING', 'RECONCILING', 'CONFIRMED') AND coalesce(l.lines, 0) <> coalesce(g.places, 0)
UNION ALL
SELECT format('order %s is %s and its place %s is %s', o.order_id, o.status, l.place_no,
              CASE WHEN l.valid THEN 'valid' ELSE 'not valid' END)
  FROM orders o JOIN order_places l USING (order_id)
 WHERE (o.status = 'CONFIRMED' AND NOT l.valid
        AND NOT EXISTS (SELECT FROM money_back_lines b WHERE b.order_id = o.order_id AND b.place_no = l.place_no AND b.counts))
    OR (l.valid AND o.status NOT IN ('CONFIRMED', 'PARTLY_REFUNDED'))
    OR l.event_id <> o.event_id
UNION ALL
SELECT format('order %s place %s costs %s, the price is %s', o.order_id, l.place_no, l.amount_minor, p.amount_minor)
  FROM orders o
  JOIN order_places l USING (order_id)
  LEFT JOIN ga_tiers t ON t.event_id = l.event_id AND t.tier_id = l.tier_id AND t.bucket = l.bucket
  LEFT JOIN prices p ON p.event_id = l.event_id AND p.price_version = o.price_version
       AND p.category_no = t.category_no AND p.price_type_id = l.price_type_id
 WHERE p.amount_minor IS DISTINCT FROM l.amount_minor
