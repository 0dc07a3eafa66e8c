-- Open ones first, then those that ended, the newest first.
SELECT a.* FROM alarms a ORDER BY a.cleared_at IS NULL DESC, a.raised_at DESC LIMIT $1
