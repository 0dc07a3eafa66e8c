-- R13: the last outbox row about a seat tells its state and its version as they are.
SELECT format('event %s seat %s is at version %s, the outbox at %s', s.event_id, s.seat_no, s.version, last.version)
       AS detail
  FROM (SELECT DISTINCT ON (x.event_id, c.seat_no) x.event_id, c.seat_no, c.state, c.version
          FROM outbox x CROSS JOIN unnest(x.seats, x.seat_states, x.seat_versions) AS c (seat_no, state, version)
         ORDER BY x.event_id, c.seat_no, x.id DESC) last
  JOIN seats s USING (event_id, seat_no)
 WHERE s.version <> last.version OR staff_byte(s.status, s.holder, s.printed, s.used) <> last.state
