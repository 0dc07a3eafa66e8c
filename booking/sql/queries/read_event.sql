SELECT e.event_id, e.name, v.name AS venue_name, e.starts_at, e.zone, e.currency, e.status, e.sale_opens_at,
       e.plan_id, e.plan_version, p.seat_count, e.hold_ttl_s, e.grace_s, e.max_per_account, e.price_version,
       e.orphan_rule, e.settings_version,
       booking_now() AS server_time,
       (SELECT coalesce(jsonb_agg(jsonb_build_object(
                   'tier_id', t.tier_id, 'name', t.name, 'category_no', t.category_no, 'capacity', s.capacity,
                   'available', s.available, 'in_holds', s.in_holds, 'sold', s.sold, 'overbooked', s.overbooked)
                   ORDER BY t.tier_id), '[]')
          FROM (SELECT g.tier_id, min(g.name) AS name, min(g.category_no) AS category_no
                  FROM ga_tiers g WHERE g.event_id = e.event_id GROUP BY 1) t
         CROSS JOIN LATERAL tier_standing(e.event_id, t.tier_id, booking_now()) s)::text AS tiers,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('category_no', c.category_no, 'name', c.name, 'color', c.color)
                                  ORDER BY c.category_no), '[]')
          FROM price_categories c WHERE c.event_id = e.event_id)::text AS categories,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('price_type_id', t.price_type_id, 'name', t.name)
                                  ORDER BY t.price_type_id), '[]')
          FROM price_types t WHERE t.event_id = e.event_id)::text AS price_types,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('category_no', a.category_no, 'price_type_id', a.price_type_id,
                                                     'amount_minor', a.amount_minor)
                                  ORDER BY a.category_no, a.price_type_id), '[]')
          FROM prices a WHERE a.event_id = e.event_id AND a.price_version = e.price_version)::text AS prices
  FROM events e
  JOIN venues v USING (venue_id)
  JOIN plans p ON p.plan_id = e.plan_id AND p.version = e.plan_version
 WHERE e.event_id = $1
