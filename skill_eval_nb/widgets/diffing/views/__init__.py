"""What a diff shows, part by part, as trees."""
