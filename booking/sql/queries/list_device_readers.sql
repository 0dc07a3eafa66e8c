SELECT r.device_id, d.name AS device_name, r.provider, r.reader_ref, r.changed_at, r.changed_by
  FROM device_readers r JOIN devices d USING (device_id)
 ORDER BY d.name, r.device_id
