-- The fence: of two readers with one name the second waits here and then sees what the first has done.
SELECT snap::text FROM consumer_offsets WHERE consumer = $1 FOR UPDATE;
