"""A plan being carried out: the job, its journal, and where its steps are done."""
