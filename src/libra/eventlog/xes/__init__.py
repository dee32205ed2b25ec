"""XES, the standard of the field (IEEE 1849): one strict and fast way in, one streaming way out."""
