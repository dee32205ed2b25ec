"""The engine for logs that fit into memory: cases as arrays, counted with Polars and NumPy."""

from libra.engines.polars.engine import PolarsEngine, engine_of
from libra.engines.polars.source import LogInMemory

__all__ = ["LogInMemory", "PolarsEngine", "engine_of"]
