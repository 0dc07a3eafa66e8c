SELECT event_id, settings_version AS version, hold_ttl_s, grace_s, max_per_account, max_per_card, max_open_holds_till,
       paying_cap, orphan_rule, max_refund_by_clerk_minor, admission
  FROM events WHERE event_id = $1
