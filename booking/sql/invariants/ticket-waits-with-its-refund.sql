-- R25: a ticket waits for the refund that names it, as long as that is not decided, and no longer.
SELECT format('ticket %s is %s and waits for the %s %s', t.ticket_id, t.status, coalesce(a.status, '?'), t.money_back_id) AS detail
  FROM tickets t LEFT JOIN money_backs a USING (money_back_id)
 WHERE t.money_back_id IS NOT NULL AND t.status <> 'VOID' AND a.status IS DISTINCT FROM 'PENDING'
UNION ALL
SELECT format('refund %s waits and its ticket %s does not', a.money_back_id, l.ticket_id)
  FROM money_backs a JOIN money_back_lines l USING (money_back_id) JOIN tickets t USING (ticket_id)
 WHERE a.status = 'PENDING' AND t.money_back_id IS DISTINCT FROM a.money_back_id
