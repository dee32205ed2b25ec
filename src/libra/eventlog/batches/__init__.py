"""Logs larger than memory: which case, which activity and when, of some events at a time."""
