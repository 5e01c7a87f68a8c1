"""What a run panel shows, as trees: each view is a function of what is known."""
