SELECT kind, subject, event_id, order_id, operation_id, amount_minor, currency, detail::text AS detail FROM differences_of_run($1)
