"""Facts of an anonymized log and, unless the page is public, of its original: plain aggregates, nothing drawn."""
