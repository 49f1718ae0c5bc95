"""Sample rows of MIRAGE MMST that were written and drawn for this package."""
