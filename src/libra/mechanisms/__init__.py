"""The mechanisms, one module or folder each, all with the same small interface; see `mechanism.py`."""
