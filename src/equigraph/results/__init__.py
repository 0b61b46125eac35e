"""Results of clusterings, and storage of results of every kind on disk."""
