SELECT EXISTS (SELECT FROM staff_sessions x JOIN staff s USING (staff_id) WHERE s.name = $1 AND x.device_id = $2);
