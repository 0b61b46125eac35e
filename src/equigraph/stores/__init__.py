"""Where the rows of a graph are, and products with them: the only operation whose cost grows with the edges."""
