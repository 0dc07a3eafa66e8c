-- The log of an event's admission, newest first, before $2 if it is given.
SELECT c.change_no, c.at, c.principal AS by, c.by_name, c.mode, c.from_per_minute, c.to_per_minute, c.reason, c.words,
       c.numbers::text AS numbers, c.cause::text AS cause
  FROM admission_changes c
 WHERE c.event_id = $1 AND c.change_no < coalesce($2::integer, 2147483647)
 ORDER BY c.change_no DESC LIMIT $3
