"""Measurements: ``python -m benchmarks`` lists them."""
