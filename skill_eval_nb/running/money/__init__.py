"""A ceiling that holds: the budget of a job, the purse of a step, and what was noted of both."""
