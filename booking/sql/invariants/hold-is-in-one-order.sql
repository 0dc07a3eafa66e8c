-- R6, R7: a hold is in one live order; a replay or a race has made no second one.
SELECT format('hold %s is in %s live orders', oh.hold_id, count(*)) AS detail
  FROM order_holds oh WHERE oh.live GROUP BY oh.hold_id HAVING count(*) > 1
