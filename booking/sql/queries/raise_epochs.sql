UPDATE event_feed SET epoch = epoch + 1, snap = pg_current_snapshot();
