-- What a row is where it is none: the seats round a table ('table'), or a booth ('booth'), so that a seat there is not called
-- after a row. Filled at import from the plan's tables, as the labels beside it are from its rows.
ALTER TABLE plan_seats ADD COLUMN row_kind text NOT NULL DEFAULT '';
ALTER TABLE plan_seats ADD CONSTRAINT plan_seat_row_kind CHECK (row_kind IN ('', 'table', 'booth'));

-- Plans that were stored before: their documents know the tables. Each document is read once, each row and table of it once, and
-- the seats are found by their numbers, because halls have tens of thousands of seats and hundreds of tables.
WITH documents AS MATERIALIZED (
    SELECT p.plan_id, p.version, d.body -> 'rows' AS rows, d.body -> 'tables' AS tables
      FROM plans p CROSS JOIN LATERAL (SELECT convert_from(p.document, 'UTF8')::jsonb AS body OFFSET 0) d),
plan_rows AS MATERIALIZED (
    SELECT d.plan_id, d.version, (r.place - 1)::integer AS row_no, (r.body ->> 'first_seat')::integer AS first_seat,
           (r.body ->> 'seat_count')::integer AS seat_count
      FROM documents d CROSS JOIN LATERAL jsonb_array_elements(d.rows) WITH ORDINALITY AS r (body, place)),
plan_tables AS MATERIALIZED (
    SELECT d.plan_id, d.version, n.row_no::integer AS row_no, t.body ->> 'kind' AS kind
      FROM documents d CROSS JOIN LATERAL jsonb_array_elements(d.tables) AS t (body)
     CROSS JOIN LATERAL jsonb_array_elements_text(
           jsonb_build_array(t.body -> 'row_no') || coalesce(t.body -> 'more_rows', '[]')) AS n (row_no)
     WHERE t.body ->> 'kind' IN ('table', 'booth')),
table_seats AS MATERIALIZED (
    SELECT t.plan_id, t.version, s.seat_no, t.kind
      FROM plan_tables t
      JOIN plan_rows r ON r.plan_id = t.plan_id AND r.version = t.version AND r.row_no = t.row_no
     CROSS JOIN LATERAL generate_series(r.first_seat, r.first_seat + r.seat_count - 1) AS s (seat_no))
UPDATE plan_seats ps SET row_kind = t.kind
  FROM table_seats t
 WHERE ps.plan_id = t.plan_id AND ps.version = t.version AND ps.seat_no = t.seat_no;

-- Seats that are gone are called as they were last (queries/name_gone_seats.sql): as in the newest version before that has them.
WITH kept AS MATERIALIZED (
    SELECT n.plan_id, n.version, n.seat_no, n.row_kind, n.flags & 8 <> 0 AS is_gone,
           max(n.version) FILTER (WHERE n.flags & 8 = 0) OVER (
               PARTITION BY n.plan_id, n.seat_no ORDER BY n.version) AS named_in
      FROM plan_seats n)
UPDATE plan_seats ps SET row_kind = o.row_kind
  FROM kept g
  JOIN kept o ON o.plan_id = g.plan_id AND o.version = g.named_in AND o.seat_no = g.seat_no
 WHERE g.is_gone AND o.row_kind <> ''
   AND ps.plan_id = g.plan_id AND ps.version = g.version AND ps.seat_no = g.seat_no;
