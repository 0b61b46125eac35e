"""Search on labels: cohesion and fairness together, with an exact number of clusters."""
