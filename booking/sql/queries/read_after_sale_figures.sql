-- What comes after a sale: tickets that wait, tickets that lack, items that only a person can settle.
SELECT ticketing_lag() AS ticketing_lag_s,
       (SELECT count(*) FROM reconciliation_items i WHERE i.resolved_at IS NULL) AS items_open,
       (SELECT coalesce(sum((i.detail ->> 'lines')::integer), 0) FROM reconciliation_items i
         WHERE i.resolved_at IS NULL AND i.kind = 'tickets-missing') AS ticket_differences
