"""Loss systems: a job that finds no server is lost."""
