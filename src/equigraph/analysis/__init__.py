"""Trade-off curves, comparisons, the number of clusters, explanations and the price of rules."""
