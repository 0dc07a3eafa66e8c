SELECT snap::text FROM consumer_offsets WHERE consumer = $1;
