"""What the wire and the catalogues promise."""
