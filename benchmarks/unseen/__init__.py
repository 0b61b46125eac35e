"""Generated graphs that nothing was tuned on: the default search against its rivals and the best labels known."""
