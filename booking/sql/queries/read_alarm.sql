SELECT a.* FROM alarms a WHERE a.alarm_id = $1
