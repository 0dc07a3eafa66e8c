-- Everything that happened around an item, in the order of time, $2 entries at most, the newest of them. $1 item_id.
WITH item AS MATERIALIZED (
    SELECT i.* FROM reconciliation_items i WHERE i.item_id = $1
), sale AS MATERIALIZED (
    SELECT o.* FROM item i JOIN orders o ON o.order_id = i.order_id
), ops AS MATERIALIZED (
    SELECT p.* FROM sale s JOIN payment_operations p ON p.order_id = s.order_id
), entries AS (
    SELECT h.created_at AS at, 'sale' AS kind, 'hold-made' AS title,
           (seat_actor(h.event_id, h.principal, h.device_id, h.staff_id))::text AS source, NULL::uuid AS operation_id,
           NULL::bigint AS amount_minor, '' AS currency, format('%s places', cardinality(h.seats) + h.places) AS body
      FROM sale s JOIN order_holds oh ON oh.order_id = s.order_id JOIN holds h USING (hold_id)
    UNION ALL
    SELECT h.ended_at, 'sale', 'hold-ended', '', NULL, NULL, '', h.status
      FROM sale s JOIN order_holds oh ON oh.order_id = s.order_id JOIN holds h USING (hold_id)
     WHERE h.ended_at IS NOT NULL
    UNION ALL
    SELECT s.created_at, 'sale', 'order-made',
           (seat_actor(s.event_id, s.principal, s.device_id, s.staff_id))::text, NULL, s.amount_minor, s.currency, s.number
      FROM sale s
    UNION ALL
    SELECT s.confirmed_at, 'sale', 'order-confirmed', '', NULL, s.amount_minor, s.currency, s.number
      FROM sale s WHERE s.confirmed_at IS NOT NULL
    UNION ALL
    SELECT s.ended_at, 'sale', 'order-ended', '', NULL, NULL, '', concat_ws(': ', s.status, nullif(s.end_reason, ''))
      FROM sale s WHERE s.ended_at IS NOT NULL
    UNION ALL
    SELECT p.created_at, 'request', 'operation-opened', p.provider, p.operation_id, p.amount_minor, p.currency, p.kind
      FROM ops p
    UNION ALL
    SELECT p.updated_at, 'answer', CASE p.status WHEN 'SUCCEEDED' THEN 'operation-succeeded' ELSE 'operation-declined' END,
           CASE WHEN p.decided_by LIKE 'supervisor:%' THEN person_name(p.decided_by) ELSE p.decided_by END,
           p.operation_id, p.amount_minor, p.currency, concat_ws(' ', p.kind, nullif(p.decline_code, ''), nullif(p.provider_ref, ''))
      FROM ops p WHERE p.status IN ('SUCCEEDED', 'DECLINED')
    UNION ALL
    SELECT e.at,
           CASE WHEN e.source LIKE 'webhook:%' THEN 'webhook' WHEN e.source LIKE 'device:%' THEN 'terminal'
                WHEN e.source LIKE 'supervisor:%' OR e.source LIKE 'person:%' THEN 'person'
                WHEN e.direction IN ('sent', 'asked') THEN 'request' ELSE 'answer' END,
           CASE WHEN e.source LIKE 'webhook:%' THEN 'webhook-received' WHEN e.source LIKE 'device:%' THEN 'terminal-said'
                WHEN e.source LIKE 'supervisor:%' OR e.source LIKE 'person:%' THEN 'evidence-given'
                WHEN e.direction IN ('sent', 'asked') THEN 'request-sent' ELSE 'answer-received' END,
           CASE WHEN e.source LIKE 'supervisor:%' THEN person_name(e.source)
                WHEN e.source LIKE 'device:%' THEN coalesce(nullif(d.name, ''), e.source) ELSE e.source END,
           e.operation_id, NULL, '', CASE WHEN e.source LIKE 'device:%' THEN e.direction || ' ' || e.body ELSE e.body END
      FROM ops p
      JOIN operation_evidence e ON e.operation_id = p.operation_id
      LEFT JOIN devices d ON 'device:' || d.device_id = e.source
    UNION ALL
    -- What a provider told of a charge that is not here: its events wait for it, or are nobody's. (Others are evidence by now.)
    SELECT v.received_at, 'webhook', 'webhook-received', v.provider, NULL, (v.body ->> 'amount_minor')::bigint,
           coalesce(v.body ->> 'currency', ''), v.state || ' ' || v.body::text
      FROM item m
     CROSS JOIN LATERAL (
           SELECT w.* FROM provider_events w
            WHERE w.state = 'parked' AND w.provider = m.provider
              AND w.body ->> 'provider_ref' = m.detail ->> 'provider_ref'
            UNION ALL
           SELECT w.* FROM provider_events w
            WHERE w.state = 'stray' AND w.provider = m.provider
              AND w.body ->> 'provider_ref' = m.detail ->> 'provider_ref') v
     WHERE m.operation_id IS NULL
    UNION ALL
    SELECT x.at, 'sale', x.title, '', NULL, NULL, '', x.body
      FROM sale s JOIN tickets t ON t.order_id = s.order_id
     CROSS JOIN LATERAL (VALUES (t.issued_at, 'ticket-issued', coalesce('seat ' || t.seat_no, 'place ' || t.place_no)),
                                (t.printed_at, 'ticket-printed', ''), (t.used_at, 'ticket-used', '')) AS x (at, title, body)
     WHERE x.at IS NOT NULL
    UNION ALL
    SELECT b.decided_at, 'sale', 'ticket-void', '', NULL, l.amount_minor, s.currency,
           concat_ws(': ', b.kind, coalesce('seat ' || l.seat_no, 'place ' || l.place_no))
      FROM sale s JOIN money_backs b ON b.order_id = s.order_id AND b.status = 'ACCEPTED'
      JOIN money_back_lines l USING (money_back_id)
    UNION ALL
    SELECT i.opened_at, 'comparison', CASE WHEN i.detail ? 'day' THEN 'difference-found' ELSE 'item-opened' END, i.provider,
           i.operation_id, i.amount_minor, i.currency, i.kind || ' ' || i.detail::text
      FROM item m JOIN reconciliation_items i ON i.item_id = m.item_id OR i.order_id = m.order_id
    UNION ALL
    SELECT i.resolved_at, 'comparison', 'item-resolved', person_name(i.resolved_by), i.operation_id, NULL, '',
           i.kind || ': ' || i.resolution
      FROM item m JOIN reconciliation_items i ON i.item_id = m.item_id OR i.order_id = m.order_id
     WHERE i.resolved_at IS NOT NULL
    UNION ALL
    SELECT a.at, 'person',
           CASE a.action WHEN 'item-approval-asked' THEN 'approval-asked' WHEN 'item-approval-given' THEN 'approval-given'
                WHEN 'item-approval-refused' THEN 'approval-refused' WHEN 'item-approval-withdrawn' THEN 'approval-withdrawn'
                WHEN 'item-approval-overtaken' THEN 'approval-overtaken'
                ELSE CASE WHEN a.action LIKE 'item-%' THEN 'act-' || substr(a.action, 6) ELSE a.action END END,
           person_name(coalesce(a.detail ->> 'staff_id', a.principal)), NULL, (a.detail ->> 'amount_minor')::bigint, m.currency,
           concat_ws(' · ', nullif(a.reason, ''), nullif('reference ' || (a.detail ->> 'reference'), ''),
                     a.detail ->> 'act', a.detail ->> 'outcome')
      FROM item m JOIN audit_log a ON a.subject IN (m.item_id::text, m.order_id::text)
    UNION ALL
    SELECT t.closed_at, 'comparison', 'terminal-totals', t.terminal_id, NULL, t.total_minor, t.currency, t.totals::text
      FROM item m JOIN terminal_totals t ON t.totals_id = (m.detail ->> 'totals_id')::uuid
    UNION ALL
    SELECT (x.value ->> 'at')::timestamptz, 'terminal', 'terminal-said', t.terminal_id, NULL, NULL, '',
           concat_ws(' ', x.value ->> 'direction', x.value ->> 'body')
      FROM item m JOIN terminal_totals t ON t.totals_id = (m.detail ->> 'totals_id')::uuid
     CROSS JOIN LATERAL jsonb_array_elements(t.evidence) AS x (value)
)
SELECT * FROM (SELECT e.*, CASE e.kind WHEN 'sale' THEN 0 WHEN 'request' THEN 1 WHEN 'terminal' THEN 2 WHEN 'webhook' THEN 3
                                       WHEN 'answer' THEN 4
                                       WHEN 'person' THEN CASE WHEN e.title LIKE 'act-%' THEN 6 ELSE 5 END ELSE 7 END AS rank
                 FROM entries e ORDER BY e.at DESC, rank DESC LIMIT $2) AS newest
 ORDER BY at, rank;
