SELECT booking_now() AS now, (SELECT count(*) FROM reconciliation_items i WHERE i.resolved_at IS NULL)::integer AS open_count;
