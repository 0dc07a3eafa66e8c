"""The payment path measured: checkout, payment, confirmation, order status; one call each against lanes."""
