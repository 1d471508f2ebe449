"""faithbot: did this change make the answers less faithful to their sources, by more than the noise?"""

__version__ = "0.1.0"
