UPDATE staff SET password_hash = $2 WHERE name = $1 RETURNING staff_id;
