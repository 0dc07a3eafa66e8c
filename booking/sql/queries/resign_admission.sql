SELECT resign_admission($1);
