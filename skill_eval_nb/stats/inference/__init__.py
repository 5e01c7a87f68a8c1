"""How sure: exact tests, intervals, detectable effects, several questions at once."""
