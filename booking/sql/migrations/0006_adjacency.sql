-- Which seats sit beside each other: for best available and for the orphan rule.

-- Nothing sits beside this seat on the side of the lower seat numbers: it begins a row, or a part of one behind an aisle.
-- Seat n and n + 1 are neighbours when n + 1 begins no part. Filled at import (domain/seating_plan/columns.py).
ALTER TABLE plan_seats ADD COLUMN starts_part boolean NOT NULL DEFAULT false;

-- Plans that were stored before: the same rule, from the places in their documents. Seats of a row that stand further
-- apart than 1.75 times the usual distance have something between them; usual is the lower median of the row, of rows
-- with fewer than three distances the lesser of that and the section's.
WITH documents AS (
    SELECT p.plan_id, p.version, convert_from(p.document, 'UTF8')::jsonb AS body FROM plans p),
places AS (
    SELECT d.plan_id, d.version, e.n::integer - 1 AS seat_no, e.x::float8 AS x, e.y::float8 AS y,
           e.row_no::integer AS row_no, l.section_no
      FROM documents d
      CROSS JOIN LATERAL ROWS FROM (jsonb_array_elements_text(d.body #> '{seats,x}'),
                                    jsonb_array_elements_text(d.body #> '{seats,y}'),
                                    jsonb_array_elements_text(d.body #> '{seats,row_no}'))
                         WITH ORDINALITY AS e (x, y, row_no, n)
      JOIN (SELECT d.plan_id, d.version, r.n - 1 AS row_no, (r.body ->> 'section_no')::integer AS section_no
              FROM documents d
              CROSS JOIN LATERAL jsonb_array_elements(d.body -> 'rows') WITH ORDINALITY AS r (body, n)) l
        ON l.plan_id = d.plan_id AND l.version = d.version AND l.row_no = e.row_no::integer),
steps AS (
    SELECT p.plan_id, p.version, p.seat_no, p.row_no, p.section_no,
           sqrt(power(p.x - lag(p.x) OVER line, 2) + power(p.y - lag(p.y) OVER line, 2)) AS distance
      FROM places p
    WINDOW line AS (PARTITION BY p.plan_id, p.version, p.row_no ORDER BY p.seat_no)),
lines AS (
    SELECT s.plan_id, s.version, s.row_no, s.section_no, count(s.distance) AS distances,
           percentile_disc(0.5) WITHIN GROUP (ORDER BY s.distance) AS usual
      FROM steps s GROUP BY s.plan_id, s.version, s.row_no, s.section_no),
sections AS (
    SELECT s.plan_id, s.version, s.section_no, percentile_disc(0.5) WITHIN GROUP (ORDER BY s.distance) AS usual
      FROM steps s GROUP BY s.plan_id, s.version, s.section_no)
UPDATE plan_seats ps SET starts_part = true
  FROM steps s
  JOIN lines l USING (plan_id, version, row_no)
  JOIN sections t ON t.plan_id = s.plan_id AND t.version = s.version AND t.section_no = s.section_no
 WHERE ps.plan_id = s.plan_id AND ps.version = s.version AND ps.seat_no = s.seat_no
   AND (s.distance IS NULL
        OR s.distance > 1.75 * CASE WHEN l.distances < 3 THEN least(l.usual, t.usual) ELSE l.usual END);
