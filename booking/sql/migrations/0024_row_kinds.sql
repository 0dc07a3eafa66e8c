-- What a row is where it is none: the seats round a table ('table'), or a booth ('booth'), so that a seat there is not called
-- after a row. Filled at import from the plan's tables, as the labels beside it are from its rows.
ALTER TABLE plan_seats ADD COLUMN row_kind text NOT NULL DEFAULT '';
ALTER TABLE plan_seats ADD CONSTRAINT plan_seat_row_kind CHECK (row_kind IN ('', 'table', 'booth'));

-- Plans that were stored before: their documents know the tables. Seats of a row follow each other in number.
WITH documents AS MATERIALIZED (
    SELECT p.plan_id, p.version, convert_from(p.document, 'UTF8')::jsonb AS body FROM plans p),
tables AS (
    SELECT d.plan_id, d.version, t.body ->> 'kind' AS kind, d.body -> 'rows' -> (t.body ->> 'row_no')::integer AS row_body
      FROM documents d CROSS JOIN LATERAL jsonb_array_elements(d.body -> 'tables') AS t (body))
UPDATE plan_seats ps SET row_kind = t.kind
  FROM tables t
 WHERE ps.plan_id = t.plan_id AND ps.version = t.version AND t.kind IN ('table', 'booth')
   AND ps.seat_no >= (t.row_body ->> 'first_seat')::integer
   AND ps.seat_no < (t.row_body ->> 'first_seat')::integer + (t.row_body ->> 'seat_count')::integer;

-- Seats that are gone are called as they were last (queries/name_gone_seats.sql).
WITH gone AS (
    SELECT DISTINCT ON (n.plan_id, n.version, n.seat_no) n.plan_id, n.version, n.seat_no, o.row_kind
      FROM plan_seats n
      JOIN plan_seats o ON o.plan_id = n.plan_id AND o.seat_no = n.seat_no AND o.version < n.version
     WHERE n.flags & 8 <> 0 AND o.flags & 8 = 0
     ORDER BY n.plan_id, n.version, n.seat_no, o.version DESC)
UPDATE plan_seats ps SET row_kind = g.row_kind
  FROM gone g
 WHERE ps.plan_id = g.plan_id AND ps.version = g.version AND ps.seat_no = g.seat_no AND g.row_kind <> '';
