-- Open ones first, then those that ended, the newest first. Each kind by its index: nobody reads three months of them for the last.
SELECT * FROM (
    (SELECT a.* FROM alarms a WHERE a.cleared_at IS NULL ORDER BY a.raised_at DESC LIMIT $1)
    UNION ALL
    (SELECT a.* FROM alarms a WHERE a.cleared_at IS NOT NULL ORDER BY a.raised_at DESC LIMIT $1)) a
 ORDER BY a.cleared_at IS NULL DESC, a.raised_at DESC LIMIT $1
