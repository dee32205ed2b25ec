"""Timings, as ratios measured in one run. Never assertions of the test suite: `make bench` prints them."""
