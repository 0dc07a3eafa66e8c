-- What operators, the controller and the alarms did before an instant, here and in waiting rooms, the newest first.
-- $2: one event, or all. $3: kinds. `no` and the entry's own id decide between entries of one instant.
WITH told AS (
    SELECT * FROM (
        SELECT 'audit:' || l.audit_id AS entry_id, l.audit_id AS no, l.at, l.action, l.principal, l.subject, l.reason,
               l.detail,
               (regexp_match(l.subject, '^(?:event:)?(\d{1,9})$'))[1]::integer AS event_id,
               CASE WHEN l.action LIKE 'alarm-%' THEN 'alarm' WHEN l.action LIKE 'admission-%' THEN 'admission'
                    WHEN l.action LIKE 'session-%' THEN 'session' WHEN l.action LIKE 'authority-%' THEN 'authority'
                    WHEN l.action = 'event-status-changed' THEN 'status' ELSE 'settings' END AS kind
          FROM audit_log l
         WHERE (l.action LIKE 'alarm-%' OR l.action LIKE 'admission-%' OR l.action LIKE 'session-%'
                OR l.action LIKE 'authority-%'
                OR l.action IN ('settings-changed', 'event-status-changed', 'plan-changed', 'tier-changed', 'access-code-set',
                                'reconciliation-settings-changed', 'channel-providers-changed', 'device-reader-changed'))
           AND l.at < $1) a
     WHERE ($2::integer IS NULL OR a.event_id = $2) AND ($3::text IS NULL OR a.kind = $3)
     ORDER BY a.at DESC, a.no DESC LIMIT $4
), steered AS (
    SELECT 'admission:' || c.event_id || ':' || c.change_no AS entry_id, c.change_no AS no, c.at,
           'admission-steered' AS action, c.principal,
           'event:' || c.event_id AS subject, c.words AS reason,
           jsonb_build_object('from', jsonb_build_object('per_minute', c.from_per_minute),
                              'to', jsonb_build_object('per_minute', c.to_per_minute), 'code', c.reason,
                              'cause', c.cause) AS detail,
           c.event_id, 'admission' AS kind
      FROM admission_changes c
     WHERE c.principal = 'controller' AND c.at < $1 AND ($2::integer IS NULL OR c.event_id = $2)
       AND coalesce($3::text, 'admission') = 'admission'
     ORDER BY c.at DESC, c.change_no DESC LIMIT $4
), in_rooms AS (
    SELECT 'room:' || r.entry_id AS entry_id, 0 AS no, r.at,
           'room-' || regexp_replace(r.what, '^room-', '') AS action, r.principal,
           CASE r.event_id WHEN 0 THEN 'room' ELSE 'event:' || r.event_id END AS subject, r.reason,
           jsonb_build_object('from', nullif(r.was, '""'), 'to', r.now,
                              'staff_id', substring(r.principal FROM '^staff:([0-9a-f-]{36})$')) AS detail,
           nullif(r.event_id, 0) AS event_id, 'admission' AS kind
      FROM room_changes r
     WHERE r.at < $1 AND ($2::integer IS NULL OR r.event_id = $2) AND coalesce($3::text, 'admission') = 'admission'
     ORDER BY r.at DESC, r.entry_id DESC LIMIT $4
)
SELECT e.entry_id, e.at, e.action, coalesce(s.display_name, e.principal) AS who, e.subject, e.reason, e.event_id, e.kind,
       e.detail
  FROM (SELECT * FROM told UNION ALL SELECT * FROM steered UNION ALL SELECT * FROM in_rooms) e
  LEFT JOIN staff s ON s.staff_id = (e.detail ->> 'staff_id')::uuid
 ORDER BY e.at DESC, e.no DESC, e.entry_id DESC LIMIT $4
