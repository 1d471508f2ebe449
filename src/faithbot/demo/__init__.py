"""The packaged example."""
