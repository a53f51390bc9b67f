"""What the tabs ask for."""
