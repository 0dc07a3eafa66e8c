-- $1 house_hold_id, $2 event_id, $3 seat numbers that the house keeps from sale as the event is made.
WITH kept AS (
    INSERT INTO house_holds (house_hold_id, event_id, kind, reason, created_by, created_at)
    VALUES ($1, $2, 'other', 'kept from sale when the event was made', 'system', booking_now())),
listed AS (
    INSERT INTO house_hold_seats (event_id, seat_no, house_hold_id)
    SELECT $2, s.seat_no, $1 FROM seats s
     WHERE s.event_id = $2 AND s.seat_no = ANY ($3::integer[]) AND s.status = 0)
UPDATE seats s SET status = 4, holder = 3 WHERE s.event_id = $2 AND s.seat_no = ANY ($3::integer[]) AND s.status = 0
