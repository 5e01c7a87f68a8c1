"""What is given: a skill, its eval suite, and the input files of evals."""
