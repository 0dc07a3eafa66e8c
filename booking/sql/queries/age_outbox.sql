-- Rows that came with a dump carry transaction ids of another cluster; 3 is older than anything running here.
UPDATE outbox SET xid = '3'::xid8;
