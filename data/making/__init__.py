"""What `generate.py` makes the bundled workspaces with: a model, a writer, and one module each."""
