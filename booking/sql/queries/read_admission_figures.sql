SELECT * FROM admission_figures($1);
