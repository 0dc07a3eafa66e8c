SELECT staff_id, name, display_name, role, password_hash, active FROM staff WHERE name = $1;
