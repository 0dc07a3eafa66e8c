-- Open items, oldest first: $1 kind, $2 event, $3 provider, $4 least amount, $5 words, after ($6, $7), $8 at most; $9: open, awaiting-approval, or '' for both.
SELECT s.*, s.detail::text AS detail_json, person_name(s.asked_by::text) AS asked_name,
       person_name(s.resolved_by) AS resolved_name,
       ARRAY(SELECT l.seat_no FROM order_seats l WHERE l.order_id = s.order_id ORDER BY l.seat_no) AS seats,
       ARRAY(SELECT l.tier_id FROM order_places l WHERE l.order_id = s.order_id ORDER BY l.place_no) AS tiers
  FROM shown_items s
 WHERE s.resolved_at IS NULL AND ($9 = '' OR ($9 = 'awaiting-approval') = (s.approval_id IS NOT NULL))
   AND ($1 = '' OR s.kind = $1) AND ($2::integer IS NULL OR s.event_id = $2) AND ($3 = '' OR s.provider = $3)
   AND ($4::bigint IS NULL OR s.amount_minor >= $4)
   AND ($5 = '' OR starts_with(upper(s.order_number), upper($5)) OR $5 IN (s.order_id::text, s.operation_id::text,
        s.item_id::text, s.detail ->> 'provider_ref', s.detail ->> 'movement_ref', s.reference)
        OR EXISTS (SELECT FROM payment_operations p WHERE p.operation_id = s.operation_id AND p.provider_ref = $5))
   AND ($6::timestamptz IS NULL OR (s.opened_at, s.item_id) > ($6, $7::uuid))
 ORDER BY s.opened_at, s.item_id LIMIT $8;
