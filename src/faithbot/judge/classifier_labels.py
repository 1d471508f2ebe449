"""What the labels of a classifier mean: the names that such models use, or the team's own word for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faithbot.judge.protocol import Support

_KNOWN: dict[str, Support] = {
    **dict.fromkeys(
        (
            "entailment", "entailed", "entails", "support", "supports", "supported", "consistent",
            "factually consistent", "faithful", "grounded", "attributable", "not hallucinated",
        ),
        "supported",
    ),
    **dict.fromkeys(
        ("contradiction", "contradicts", "contradicted", "contradictory", "refute", "refutes", "refuted"),
        "contradicted",
    ),
    **dict.fromkeys(
        (
            "neutral", "not entailment", "not enough info", "nei", "unsupported", "not supported", "inconsistent",
            "factually inconsistent", "not consistent", "unfaithful", "ungrounded", "not grounded", "not attributable",
            "hallucination", "hallucinated",
        ),
        "not_found",
    ),
}  # fmt: skip
"""In lower case, words set apart by spaces."""
_SHOWN = 200
"""Characters of a model's own labels that an error repeats."""


def supports_of(labels: Sequence[str], named: Mapping[Support, str]) -> tuple[Support, ...]:
    """The support that each label means.

    ``named`` says which label means a support, in place of the known names; labels that it leaves out then mean
    `not_found`. A model with a single label gives the probability of `supported`. :class:`UsageError` asks for the
    setting where a label's meaning is not known.
    """
    if len(labels) == 1:
        return ("supported",)
    if named:
        return _by_setting(labels, named)
    meant = [_KNOWN.get(" ".join(label.casefold().replace("_", " ").replace("-", " ").split())) for label in labels]
    known = tuple(support for support in meant if support)
    if len(known) < len(labels) or "supported" not in known:
        raise UsageError(
            f"what its labels ({_listed(labels)}) mean is not known: the model's page tells. In faithbot.yaml say it "
            "beside `model`, `labels: {supported: LABEL, contradicted: LABEL}`. On the command line, name a folder "
            'with the model\'s files and say it in the id2label of its config.json, such as {"0": "entailment", "1": '
            '"neutral", "2": "contradiction"}.'
        )
    return known


def _by_setting(labels: Sequence[str], named: Mapping[Support, str]) -> tuple[Support, ...]:
    by_label = {label: support for support, label in named.items()}
    for label, support in by_label.items():
        if label not in labels:
            raise UsageError(f"labels.{support}: the model has no label {label!r}: it has {_listed(labels)}.")
    return tuple(by_label.get(label, "not_found") for label in labels)


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(labels)[:_SHOWN]
