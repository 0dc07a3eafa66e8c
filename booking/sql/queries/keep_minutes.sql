-- A minute of the house and of its events; what is kept already stays.
INSERT INTO figures_minutes (event_id, minute, body)
SELECT m.event_id, $1, m.body FROM unnest($2::integer[], $3::bytea[]) AS m (event_id, body)
    ON CONFLICT ON CONSTRAINT figures_minutes_pk DO NOTHING
