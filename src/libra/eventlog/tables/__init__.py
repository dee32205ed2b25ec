"""Logs as tables: CSV, TSV, Parquet and data frames, one row an event, with the columns found and their roles shown."""
