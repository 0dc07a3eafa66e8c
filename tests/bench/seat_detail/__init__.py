"""What the details of one seat cost, and what keeping its history costs a sale."""
