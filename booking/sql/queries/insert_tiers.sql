-- A tier's capacity is allotted over its buckets: the remainder goes to the first ones, so that they sum to the stock.
INSERT INTO ga_tiers (event_id, tier_id, bucket, name, category_no, capacity)
SELECT $1, t.tier_id, a.place - 1, t.name, t.category_no, a.capacity
  FROM unnest($2::int[], $3::text[], $4::int[], $5::int[], $6::int[]) AS t (tier_id, name, category_no, capacity, buckets)
 CROSS JOIN LATERAL unnest(allot_places(t.capacity, t.buckets)) WITH ORDINALITY AS a (capacity, place)
