"""What is done with stored outputs, without running anything: checked and judged anew."""
