-- R27: what a comparison has read of a provider's list is kept while it runs, and no longer; its counts add up.
SELECT format('%s movements of comparison %s are kept, and it is %s', count(*), r.run_id, r.state) AS detail
  FROM run_movements m JOIN reconciliation_runs r USING (run_id)
 WHERE r.state <> 'running' GROUP BY r.run_id, r.state
UNION ALL
SELECT format('comparison %s has read %s and keeps %s', r.run_id, r.read, count(m.number))
  FROM reconciliation_runs r LEFT JOIN run_movements m USING (run_id)
 WHERE r.state = 'running' GROUP BY r.run_id, r.read HAVING count(m.number) <> r.read
UNION ALL
SELECT format('comparison %s found %s and opened %s items', r.run_id, r.differences, r.opened_items)
  FROM reconciliation_runs r
 WHERE r.opened_items > (SELECT coalesce(sum(d.value::integer), 0) FROM jsonb_each_text(r.differences) d)
