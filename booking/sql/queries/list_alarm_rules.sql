SELECT r.* FROM alarm_rules r
