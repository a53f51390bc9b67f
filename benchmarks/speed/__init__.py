"""Measures byteloom and its peers: one fresh process a measurement, turn about, results compared before times."""
