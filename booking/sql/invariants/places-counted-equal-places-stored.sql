-- B4: the counters of every tier equal the counted rows, bucket by bucket, and each place is of a bucket that is there.
SELECT format('event %s tier %s bucket %s: held %s, counted %s; sold %s, counted %s', coalesce(t.event_id, c.event_id),
              coalesce(t.tier_id, c.tier_id), coalesce(t.bucket, c.bucket), coalesce(t.held, 0), coalesce(c.held, 0),
              coalesce(t.sold, 0), coalesce(c.sold, 0)) AS detail
  FROM ga_tiers t
  FULL JOIN (
    SELECT p.event_id, p.tier_id, p.bucket, sum(p.held) AS held, sum(p.sold) AS sold
      FROM (SELECT g.event_id, g.tier_id, g.bucket, g.quantity AS held, 0 AS sold
              FROM ga_holds g WHERE g.status IN (1, 2)
            UNION ALL
            SELECT l.event_id, l.tier_id, l.bucket, 0, 1 FROM order_places l WHERE l.valid) p
     GROUP BY 1, 2, 3) c ON (c.event_id, c.tier_id, c.bucket) = (t.event_id, t.tier_id, t.bucket)
 WHERE coalesce(t.held, 0) <> coalesce(c.held, 0) OR coalesce(t.sold, 0) <> coalesce(c.sold, 0)
