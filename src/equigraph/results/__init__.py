"""The result of a clustering, and how results of every kind are kept on disk.

Nothing is imported here: what is kept on disk may be read without the estimators, whose import takes seconds.
"""
