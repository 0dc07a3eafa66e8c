-- Never back: of two readers of one name the one that is ahead counts. The other one delivers what it has; that is harmless.
UPDATE consumer_offsets SET snap = $2::text::pg_snapshot, updated_at = booking_now()
 WHERE consumer = $1 AND pg_snapshot_xmin(snap) <= pg_snapshot_xmin($2::text::pg_snapshot)
   AND pg_snapshot_xmax(snap) <= pg_snapshot_xmax($2::text::pg_snapshot);
