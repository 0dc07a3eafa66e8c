SELECT reader_ref FROM device_readers WHERE device_id = $1 AND provider = $2
