"""Where raw cases are counted: one contract, and an engine for each place where cases can lie."""
