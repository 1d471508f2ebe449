"""Recorded results to text: the comment on a pull request and the summary in a terminal. Pure functions."""
