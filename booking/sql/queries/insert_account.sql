INSERT INTO accounts (account_id) VALUES ($1);
