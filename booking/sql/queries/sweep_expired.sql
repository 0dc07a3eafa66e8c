SELECT sweep_expired($1);
