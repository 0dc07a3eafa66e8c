-- A line is a seat or a place; the other is NULL. One that got its ticket meanwhile keeps it, and one whose money went back
-- meanwhile gets none: its row is read under a lock that a refund has to wait for.
WITH lines AS (
    SELECT * FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::int[], $5::int[], $6::text[])
        AS l (ticket_id, event_id, order_id, seat_no, place_no, code)),
seats AS (
    INSERT INTO tickets (ticket_id, event_id, order_id, seat_no, code)
    SELECT l.ticket_id, l.event_id, l.order_id, l.seat_no, l.code
      FROM lines l JOIN order_seats s ON s.order_id = l.order_id AND s.seat_no = l.seat_no AND s.valid
     ORDER BY l.order_id, l.seat_no FOR SHARE OF s
        ON CONFLICT (order_id, seat_no) WHERE status <> 'VOID' DO NOTHING
    RETURNING ticket_id),
places AS (
    INSERT INTO tickets (ticket_id, event_id, order_id, place_no, code)
    SELECT l.ticket_id, l.event_id, l.order_id, l.place_no, l.code
      FROM lines l JOIN order_places s ON s.order_id = l.order_id AND s.place_no = l.place_no AND s.valid
     ORDER BY l.order_id, l.place_no FOR SHARE OF s
        ON CONFLICT (order_id, place_no) WHERE status <> 'VOID' DO NOTHING
    RETURNING ticket_id)
SELECT ticket_id FROM seats UNION ALL SELECT ticket_id FROM places;
