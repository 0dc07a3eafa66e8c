SELECT forget_process($1)
