"""The result of a clustering, and how results of every kind are kept on disk."""
