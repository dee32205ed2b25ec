"""The engine for logs larger than memory, on one machine: read in batches, grouped in buckets, counted in blocks."""

from libra.engines.polars_streaming.engine import StreamingEngine
from libra.engines.polars_streaming.source import StreamedLog

__all__ = ["StreamedLog", "StreamingEngine"]
