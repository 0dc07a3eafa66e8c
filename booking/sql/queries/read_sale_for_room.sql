SELECT e.event_id, s.* FROM unnest($1::int[]) AS e (event_id) CROSS JOIN LATERAL sale_for_room(e.event_id) s
