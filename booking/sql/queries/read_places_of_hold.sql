-- The places of a hold by tier, also of one that has ended.
SELECT g.tier_id, t.name, t.category_no, sum(g.quantity)::int AS quantity
  FROM ga_holds g JOIN ga_tiers t USING (event_id, tier_id, bucket)
 WHERE g.hold_id = $1
 GROUP BY g.tier_id, t.name, t.category_no
 ORDER BY g.tier_id
