"""Experiments of the iFairNMTF paper, run again from the networks to the tables and figures."""
