"""`python -m faithbot`."""

from faithbot.cli import main

main()
