SELECT EXISTS (SELECT FROM holds h WHERE h.event_id = $1 AND h.principal = $2 AND h.idem_key = $3) AS found
