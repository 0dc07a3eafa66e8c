SELECT a.action, a.asked_by, person_name(a.asked_by::text) AS asked_name, a.asked_at, a.reason, a.amount_minor, a.reference,
       a.order_id, a.outcome, a.seats_to_sale, a.device_id, a.way
  FROM item_approvals a WHERE a.item_id = $1 AND a.decision = '';
