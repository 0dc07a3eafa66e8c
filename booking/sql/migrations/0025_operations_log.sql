-- The log of operations of one event, and of one kind: without these it reads every entry there ever was to find the few
-- (a year of alarms and of steering: more than a second). The expressions are those of queries/list_operations_log.sql.
CREATE INDEX audit_log_of_event ON audit_log (
    ((regexp_match(subject, '^(?:event:)?(\d{1,9})$'))[1]::integer), at)
    WHERE (action LIKE 'alarm-%' OR action LIKE 'admission-%' OR action LIKE 'session-%' OR action LIKE 'authority-%'
           OR action IN ('settings-changed', 'event-status-changed', 'plan-changed', 'tier-changed', 'access-code-set',
                         'reconciliation-settings-changed', 'channel-providers-changed', 'device-reader-changed'))
      AND (regexp_match(subject, '^(?:event:)?(\d{1,9})$'))[1]::integer IS NOT NULL;
CREATE INDEX audit_log_of_kind ON audit_log (
    (CASE WHEN action LIKE 'alarm-%' THEN 'alarm' WHEN action LIKE 'admission-%' THEN 'admission'
          WHEN action LIKE 'session-%' THEN 'session' WHEN action LIKE 'authority-%' THEN 'authority'
          WHEN action = 'event-status-changed' THEN 'status' ELSE 'settings' END), at)
    WHERE action LIKE 'alarm-%' OR action LIKE 'admission-%' OR action LIKE 'session-%' OR action LIKE 'authority-%'
       OR action IN ('settings-changed', 'event-status-changed', 'plan-changed', 'tier-changed', 'access-code-set',
                     'reconciliation-settings-changed', 'channel-providers-changed', 'device-reader-changed');
CREATE INDEX admission_changes_of_event ON admission_changes (event_id, at);
CREATE INDEX room_changes_of_event ON room_changes (event_id, at);
