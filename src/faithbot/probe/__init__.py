"""A judge's blind spots on a team's own documents: sentences that are right or wrong by construction."""
