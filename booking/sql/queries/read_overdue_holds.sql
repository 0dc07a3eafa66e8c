SELECT * FROM overdue_holds()
