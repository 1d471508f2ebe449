"""Language models behind one protocol, and the cache of their calls."""
