-- The tiers of an event and what is left of them now: what has expired is free already, swept or not (R5).
SELECT t.tier_id, t.name, t.category_no, s.capacity, s.available, s.in_holds, s.sold, s.overbooked,
       booking_now() AS server_time
  FROM (SELECT g.event_id, g.tier_id, min(g.name) AS name, min(g.category_no) AS category_no
          FROM ga_tiers g WHERE g.event_id = $1 GROUP BY 1, 2) t
 CROSS JOIN LATERAL tier_standing(t.event_id, t.tier_id, booking_now()) s
 ORDER BY t.tier_id
