"""Errors that a person can act on: each names the place and the cure, and carries the exit code of its kind."""

from __future__ import annotations


class FaithbotError(Exception):
    """Base of all errors that end a command with one clear message instead of a traceback."""

    exit_code = 2
    computed: str | None = None
    """What was computed before, and is kept for the next try."""


class UsageError(FaithbotError):
    """Wrong usage or configuration: the file, the place and the cure stand in the message."""

    exit_code = 64


class EvaluationError(FaithbotError):
    """The evaluation could not be done: a server, a model or a ref is not what it should be."""

    exit_code = 2


class CallError(EvaluationError):
    """One call failed in a way that leaves the others possible: a prompt that is too long, a reply that broke off.

    The question it belongs to is recorded as failed, with this message as its reason.
    """
