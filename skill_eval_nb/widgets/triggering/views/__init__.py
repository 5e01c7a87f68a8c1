"""What a trigger panel shows, part by part."""
