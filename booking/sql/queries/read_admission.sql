-- How admission stands for an event: settings, what the controller decided last, where the room is. No row: no such event.
SELECT e.event_id, booking_now() AS server_time, s.version, s.mode, s.mode_before_pause, s.cap_per_minute,
       s.manual_per_minute, s.least_per_minute, s.total_active_users, s.targets::text AS targets, s.changed_at,
       s.changed_by, a.per_minute, a.law::text AS law, a.reason, a.words, a.decided_at, a.measured_at,
       a.figures::text AS figures, a.room::text AS room, a.cause::text AS cause, r.url
  FROM events e
  LEFT JOIN admission_settings s ON s.event_id = e.event_id
  LEFT JOIN admission_states a ON a.event_id = e.event_id
  LEFT JOIN admission_rooms r ON r.event_id = e.event_id
 WHERE e.event_id = $1
