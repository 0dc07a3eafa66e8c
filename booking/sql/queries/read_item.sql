-- One item as lists show it.
SELECT s.*, s.detail::text AS detail_json, person_name(s.asked_by::text) AS asked_name,
       person_name(s.resolved_by) AS resolved_name,
       ARRAY(SELECT l.seat_no FROM order_seats l WHERE l.order_id = s.order_id ORDER BY l.seat_no) AS seats,
       ARRAY(SELECT l.tier_id FROM order_places l WHERE l.order_id = s.order_id ORDER BY l.place_no) AS tiers
  FROM shown_items s
 WHERE s.item_id = $1;
