"""Libra."""
