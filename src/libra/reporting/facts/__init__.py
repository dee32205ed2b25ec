"""What a report says: plain aggregates of two logs, or of the anonymized one alone. No markup, no drawing, and no single case."""
