-- One new version for each event named; returns (event_id, epoch, version).
WITH changed AS (
    SELECT * FROM unnest($1::int[], $2::bytea[]) AS c (event_id, body)
), moved AS (
    UPDATE event_feed f SET last_version = f.last_version + 1, snap = $3::text::pg_snapshot
      FROM changed c WHERE c.event_id = f.event_id
    RETURNING f.event_id, f.epoch, f.last_version
), written AS (
    INSERT INTO seat_feed (event_id, version, body)
    SELECT m.event_id, m.last_version, c.body FROM moved m JOIN changed c USING (event_id)
)
SELECT event_id, epoch, last_version FROM moved ORDER BY event_id;
