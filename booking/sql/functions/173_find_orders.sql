-- Orders looked up by staff, newest first (ids are UUIDv7, so that they sort by time). p_principal: this till's alone; p_after: older
-- than this one; p_text, in this order: an order's number, a ticket's code; with an event also a seat by its label in any
-- writing (`A 12`, `Stalls A-12`), or the mark of a buyer (seat_actor). p_returns: those alone of which this till has to give money
-- back. Planned anew each time: what is asked for decides the index.
DROP FUNCTION IF EXISTS find_orders(text, integer, text, text, uuid, integer);
CREATE OR REPLACE FUNCTION find_orders(
    p_principal text, p_event integer, p_status text, p_text text, p_after uuid, p_limit integer, p_returns uuid
) RETURNS TABLE (
    order_id uuid, event_id integer, event_name text, number text, status text, amount_minor bigint, currency text,
    created_at timestamptz, plan_id uuid, plan_version integer, seats integer[], places text[], buyer text,
    open_items integer
) LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
    v_found uuid[];
    v_whole CONSTANT text := upper(btrim(p_text));
BEGIN
    IF v_whole <> '' THEN
        v_found := orders_named(v_whole, p_event);
    ELSIF p_returns IS NOT NULL THEN
        v_found := ARRAY(SELECT p.order_id FROM payment_operations p
                          WHERE p.device_id = p_returns AND p.at_till AND p.status IN ('SENT', 'UNKNOWN'));
    END IF;
    RETURN QUERY
    SELECT o.order_id, o.event_id, e.name, o.number, o.status, o.amount_minor, o.currency, o.created_at, e.plan_id,
           e.plan_version,
           ARRAY(SELECT l.seat_no FROM order_seats l WHERE l.order_id = o.order_id ORDER BY 1),
           ARRAY(SELECT format('%s ×%s', min(t.name), count(*))
                   FROM order_places l JOIN ga_tiers t USING (event_id, tier_id, bucket)
                  WHERE l.order_id = o.order_id GROUP BY l.tier_id ORDER BY l.tier_id),
           coalesce(nullif(o.buyer, ''), a.actor ->> 'short_id', nullif(a.actor ->> 'till', ''), ''),
           (SELECT count(*)::integer FROM reconciliation_items i
             WHERE i.order_id = o.order_id AND i.resolved_at IS NULL)
      FROM (SELECT * FROM orders o
             WHERE (p_principal IS NULL OR o.principal = p_principal)
               AND (p_event IS NULL OR o.event_id = p_event)
               AND (p_status IS NULL OR o.status = p_status)
               AND (p_after IS NULL OR o.order_id < p_after)
               AND (v_found IS NULL OR o.order_id = ANY (v_found))
             ORDER BY o.order_id DESC LIMIT p_limit) o
      JOIN events e USING (event_id)
     CROSS JOIN LATERAL (SELECT seat_actor(o.event_id, o.principal, o.device_id, o.staff_id) AS actor) a
     ORDER BY o.order_id DESC;
END $$;

-- The orders that a text in capitals may mean; none is an empty array.
CREATE OR REPLACE FUNCTION orders_named(p_text text, p_event integer) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_bare CONSTANT text := regexp_replace(p_text, '[^[:alnum:]]', '', 'g');
BEGIN
    RETURN ARRAY(
        SELECT o.order_id FROM events e
         CROSS JOIN LATERAL (SELECT o.order_id FROM orders o
                              WHERE o.event_id = e.event_id AND o.number = left(v_bare, 4) || '-' || substr(v_bare, 5)
                             OFFSET 0) o
         WHERE length(v_bare) = 8 AND (p_event IS NULL OR e.event_id = p_event)
         UNION
        SELECT t.order_id FROM tickets t WHERE t.code = p_text
         UNION
        SELECT l.order_id
          FROM events e
          JOIN plan_seats s ON s.plan_id = e.plan_id AND s.version = e.plan_version
           AND v_bare IN (upper(regexp_replace(s.row_label || s.number, '[^[:alnum:]]', '', 'g')),
                          upper(regexp_replace(s.section || s.row_label || s.number, '[^[:alnum:]]', '', 'g')))
          JOIN order_seats l ON l.event_id = e.event_id AND l.seat_no = s.seat_no
         WHERE e.event_id = p_event AND v_bare <> ''
         UNION
        SELECT o.order_id FROM account_limits a JOIN orders o ON o.event_id = a.event_id AND o.principal = a.principal
         WHERE a.event_id = p_event AND a.principal LIKE 'account:%' AND p_text ~ '^[0-9A-F]{6}$'
           AND upper(seat_actor(a.event_id, a.principal, NULL, NULL) ->> 'short_id') = p_text
         UNION
        SELECT o.order_id FROM orders o WHERE o.event_id = p_event AND o.buyer <> '' AND upper(o.buyer) = p_text);
END $$;
