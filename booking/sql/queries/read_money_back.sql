-- The operations that an act opened, and the tickets that it is about.
SELECT ARRAY(SELECT p.operation_id FROM (SELECT * FROM payment_operations p WHERE p.order_id = a.order_id OFFSET 0) p
              WHERE p.money_back_id = a.money_back_id ORDER BY p.operation_id) AS operations,
       ARRAY(SELECT l.ticket_id FROM money_back_lines l
              WHERE l.money_back_id = a.money_back_id AND l.ticket_id IS NOT NULL ORDER BY l.line_no) AS tickets
  FROM money_backs a
 WHERE a.money_back_id = $1
