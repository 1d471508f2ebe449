"""Room of the systems under test."""
