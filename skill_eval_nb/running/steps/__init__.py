"""The steps of a run, and the files that each leaves: executed, checked, judged, graded."""
