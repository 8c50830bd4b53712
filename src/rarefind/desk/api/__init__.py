"""The doors of a desk: an address for transactions, and one for the people who check them."""
