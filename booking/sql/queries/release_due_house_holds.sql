SELECT release_due_house_holds($1) AS ended
