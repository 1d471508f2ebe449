"""Evaluation of boosted decision trees, as fitted elsewhere and written as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Tree: TypeAlias = "float | tuple[int, float, Tree, Tree]"
"""A leaf's value, or a feature's place, a limit, the tree for values up to it and the one for larger values."""


@dataclass(frozen=True, slots=True)
class BoostedTrees:
    """A sum of decision trees that gives a logit."""

    base: float
    trees: tuple[Tree, ...]

    @classmethod
    def load(cls, fitted: dict[str, Any], names: Sequence[str]) -> BoostedTrees:
        """From JSON ``{base, trees}`` in which an inner node is ``[feature name, limit, low, high]``."""

        def tree(node: Any) -> Tree:
            if isinstance(node, list):
                name, limit, low, high = node
                return names.index(name), float(limit), tree(low), tree(high)
            return float(node)

        return cls(float(fitted["base"]), tuple(map(tree, fitted["trees"])))

    def probability(self, features: Sequence[float]) -> float:
        """P of the positive class, 0 to 1, of features in the order of the names that they were loaded with."""
        logit = self.base
        for tree in self.trees:
            node = tree
            while isinstance(node, tuple):
                feature, limit, low, high = node
                node = low if features[feature] <= limit else high
            logit += node
        return 1.0 / (1.0 + math.exp(-logit))
