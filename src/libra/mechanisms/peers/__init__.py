"""What the mechanisms of other authors share: traces with counts, their claims, and the way from control flow to a release."""
