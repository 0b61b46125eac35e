"""Reproduction of the experiments of the iFairNMTF paper, from networks to tables and figures."""
