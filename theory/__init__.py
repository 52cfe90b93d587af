"""What is true of an instance: exact objects, no time and no randomness."""
