"""What comes after a run: pages and tables of runs, and the comparison of two."""
