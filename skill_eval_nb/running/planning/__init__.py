"""What will be done, in which order and at what price: nothing is spent here."""
