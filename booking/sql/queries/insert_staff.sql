INSERT INTO staff (staff_id, name, display_name, role, password_hash) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (name) DO UPDATE SET display_name = excluded.display_name, role = excluded.role,
                                 password_hash = excluded.password_hash, active = true
RETURNING staff_id;
