"""Policies of loss systems."""
