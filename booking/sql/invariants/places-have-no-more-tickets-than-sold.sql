-- R28, R39: a tier has at most one valid ticket for each place that is sold.
SELECT format('event %s tier %s: %s tickets, %s sold', t.event_id, t.tier_id, n.tickets, t.sold) AS detail
  FROM (SELECT g.event_id, g.tier_id, sum(g.sold) AS sold FROM ga_tiers g GROUP BY 1, 2) t
  JOIN (SELECT l.event_id, l.tier_id, count(*) AS tickets
          FROM tickets k JOIN order_places l USING (order_id, place_no)
         WHERE k.status <> 'VOID' GROUP BY 1, 2) n USING (event_id, tier_id)
 WHERE n.tickets > t.sold
