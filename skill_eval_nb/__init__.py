"""Does your agent skill really help? Load, compare and report skill evaluations."""
