SELECT * FROM expire_holds($1, $2);
