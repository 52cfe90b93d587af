"""From files to scenarios: the table [simulation] and what stands in it."""
