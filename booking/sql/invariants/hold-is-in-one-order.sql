-- A replay or a race made a second order of one hold.
SELECT format('hold %s is in %s live orders', oh.hold_id, count(*)) AS detail
  FROM order_holds oh WHERE oh.live GROUP BY oh.hold_id HAVING count(*) > 1
