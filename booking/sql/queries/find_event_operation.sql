SELECT operation_id, charge_id FROM find_event_operation($1::text[], $2, $3, $4, $5)
