"""Admission policies in simulation: worlds are drawn first, and one event loop runs every policy through them."""
