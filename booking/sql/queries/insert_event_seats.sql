-- $1 event_id, $2 plan_id, $3 plan_version, $4 seat numbers that the house keeps (BLOCKED, holder house).
INSERT INTO seats (event_id, seat_no, status, holder)
SELECT $1, seat_no, CASE WHEN kept THEN 4 ELSE 0 END, CASE WHEN kept THEN 3 ELSE 0 END
FROM (
    SELECT seat_no, seat_no = ANY ($4::integer[]) AS kept FROM plan_seats WHERE plan_id = $2 AND version = $3
) AS planned
ORDER BY seat_no
