SELECT system_identifier, timeline FROM feed_origin FOR UPDATE;
