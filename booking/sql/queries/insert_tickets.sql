INSERT INTO tickets (ticket_id, event_id, order_id, seat_no, code)
SELECT * FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::int[], $5::text[])
ON CONFLICT (order_id, seat_no) WHERE status <> 'VOID' DO NOTHING
RETURNING ticket_id;
