-- The session row is locked: two refreshes of one session take turns.
SELECT x.session_id, x.device_id, x.expires_at, x.revoked_at, s.staff_id, s.name, s.display_name, s.role, s.active
  FROM staff_sessions x JOIN staff s USING (staff_id)
 WHERE x.session_id = $1
   FOR UPDATE OF x;
