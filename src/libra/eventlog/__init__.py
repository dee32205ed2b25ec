"""What an event log is, and how it comes in and goes out: XES, CSV, Parquet, data frames."""
