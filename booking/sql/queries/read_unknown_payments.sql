SELECT * FROM unknown_payments()
