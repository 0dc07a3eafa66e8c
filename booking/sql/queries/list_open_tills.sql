SELECT device_id, name, staff_name, since FROM open_tills() ORDER BY name, device_id
