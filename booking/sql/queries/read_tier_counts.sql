-- What is left of the tiers of several events now (see tier_standing); an event without tiers has no row.
SELECT t.event_id, t.tier_id, s.available, s.capacity
  FROM (SELECT DISTINCT g.event_id, g.tier_id FROM ga_tiers g WHERE g.event_id = ANY ($1::int[]) OFFSET 0) t
 CROSS JOIN LATERAL tier_standing(t.event_id, t.tier_id, booking_now()) s
 ORDER BY t.event_id, t.tier_id
