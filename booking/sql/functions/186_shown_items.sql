-- Items as lists and people see them.

-- Who did something, by the name that people know: a member of staff by his id, with or without `supervisor:` before it.
CREATE OR REPLACE FUNCTION person_name(p_who text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT s.display_name FROM staff s
                      WHERE s.staff_id = (substring(p_who FROM
                            '^(?:supervisor:)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$'))::uuid), p_who)
$$;

DROP VIEW IF EXISTS shown_items;
CREATE VIEW shown_items AS
SELECT i.item_id, i.kind, i.version, i.opened_at, i.event_id, coalesce(e.name, '') AS event_name, e.plan_id, e.plan_version,
       i.order_id, coalesce(o.number, '') AS order_number, i.operation_id, i.provider, i.amount_minor, i.currency,
       i.detail, i.subject, i.reference, i.resolved_at, i.resolved_by, i.resolution, a.approval_id, a.asked_by
  FROM reconciliation_items i
  LEFT JOIN events e ON e.event_id = i.event_id
  LEFT JOIN orders o ON o.order_id = i.order_id
  LEFT JOIN item_approvals a ON a.item_id = i.item_id AND a.decision = '';
