"""The tail: cases whose variant is too rare to be kept, released as a model of traces and generated from it."""
