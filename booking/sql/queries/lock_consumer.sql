-- The fence: of two readers with one name the second waits here and then sees what the first has done.
SELECT snap::text, updated_at FROM consumer_offsets WHERE consumer = $1 FOR UPDATE;
