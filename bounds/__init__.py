"""What a stranger can check: claims with their evidence, certificates and their checker, and the command line."""
