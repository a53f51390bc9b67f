"""Measures byteloom and its peers: a fresh process each, turn about, results compared before times."""
