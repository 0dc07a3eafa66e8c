SELECT a.* FROM alarms a WHERE a.cleared_at IS NULL ORDER BY a.raised_at
