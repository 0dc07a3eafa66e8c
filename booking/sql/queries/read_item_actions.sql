SELECT a.action, a.most_minor, a.second_person, a.outcome_needed, a.why_not, a.ways
  FROM reconciliation_items i CROSS JOIN LATERAL actions_of_item(i) a
 WHERE i.item_id = $1;
