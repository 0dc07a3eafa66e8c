SELECT DISTINCT t.tier_id, t.name, t.category_no FROM ga_tiers t WHERE t.event_id = $1
