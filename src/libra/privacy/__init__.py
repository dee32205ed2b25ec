"""What a guarantee is: randomness, accounting, and what a release may claim."""
