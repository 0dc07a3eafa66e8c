-- R11, B7: a tier has no more places held and sold than its capacity and what was overbooked by name; and its buckets are
-- one tier, numbered without gaps, under one name and one category.
SELECT format('event %s tier %s bucket %s: %s held and %s sold of %s, overbooked by %s', t.event_id, t.tier_id, t.bucket,
              t.held, t.sold, t.capacity, t.overbooked) AS detail
  FROM ga_tiers t
 WHERE t.held + t.sold > t.capacity + t.overbooked OR least(t.held, t.sold, t.capacity, t.overbooked) < 0
UNION ALL
SELECT format('event %s tier %s: %s buckets, %s names, %s categories', t.event_id, t.tier_id, count(*),
              count(DISTINCT t.name), count(DISTINCT t.category_no))
  FROM ga_tiers t
 GROUP BY t.event_id, t.tier_id
HAVING count(DISTINCT t.name) <> 1 OR count(DISTINCT t.category_no) <> 1 OR max(t.bucket) <> count(*) - 1
