-- What operators, the controller and the alarms did before an instant, the newest first. $2: one event, or all. $3: kinds.
WITH told AS (
    SELECT * FROM (
        SELECT 'audit:' || l.audit_id AS entry_id, l.at, l.action, l.principal, l.subject, l.reason, l.detail,
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
     ORDER BY a.at DESC LIMIT $4
), steered AS (
    SELECT 'admission:' || c.event_id || ':' || c.change_no AS entry_id, c.at, 'admission-steered' AS action, c.principal,
           'event:' || c.event_id AS subject, c.words AS reason,
           jsonb_build_object('from', jsonb_build_object('per_minute', c.from_per_minute),
                              'to', jsonb_build_object('per_minute', c.to_per_minute), 'code', c.reason,
                              'cause', c.cause) AS detail,
           c.event_id, 'admission' AS kind
      FROM admission_changes c
     WHERE c.principal = 'controller' AND c.at < $1 AND ($2::integer IS NULL OR c.event_id = $2)
       AND coalesce($3::text, 'admission') = 'admission'
     ORDER BY c.at DESC LIMIT $4
)
SELECT e.entry_id, e.at, e.action, coalesce(s.display_name, e.principal) AS who, e.subject, e.reason, e.event_id, e.kind,
       e.detail
  FROM (SELECT * FROM told UNION ALL SELECT * FROM steered) e
  LEFT JOIN staff s ON s.staff_id = (e.detail ->> 'staff_id')::uuid
 ORDER BY e.at DESC LIMIT $4
