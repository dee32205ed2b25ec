"""The engine for logs that fit into memory: cases as arrays, counted with Polars and NumPy."""

from libra.engines.polars.engine import PolarsEngine, engine_of

__all__ = ["PolarsEngine", "engine_of"]
