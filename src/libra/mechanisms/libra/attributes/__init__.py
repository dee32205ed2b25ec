"""Attributes of cases: what is asked of the gate, how it is fitted to the cases generated, and how values are dealt out."""
