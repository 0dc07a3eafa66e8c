SELECT operation_id, sent FROM mark_sent_batch($1::uuid[])
