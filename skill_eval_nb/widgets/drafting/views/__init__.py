"""What the parts of the widget look like."""
