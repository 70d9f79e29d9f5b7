"""Scores of function sequences."""

from __future__ import annotations

from rods.structure.planning.plausibility import Plausibility

GROUPS = {"open": 0, "read": 0, "shut": 0, "buy": 1, "sell": 1}
SEEN = [("open", "read", "shut"), ("open", "read", "read", "shut"), ("buy", "sell")]


def test_what_train_tasks_do_scores_above_what_they_never_do() -> None:
    scores = Plausibility(SEEN, GROUPS)
    assert scores.score(("open", "read", "shut")) > scores.score(("shut", "read", "open"))
    assert scores.score(("open", "read", "shut")) > scores.score(("open", "buy", "shut"))


def test_probabilities_after_a_function_sum_to_at_most_one() -> None:
    scores = Plausibility(SEEN, GROUPS)
    for earlier in ("", *GROUPS):
        total = sum(2.718281828 ** scores.log_probability(earlier, name) for name in GROUPS)
        assert 0.5 < total <= 1 + 1e-9


def test_the_threshold_leaves_each_task_out_and_restores_the_counts() -> None:
    scores = Plausibility(SEEN, GROUPS)
    before = scores.score(SEEN[0])
    assert scores.threshold(0.4) < min(map(scores.score, SEEN))  # less likely without itself
    assert scores.score(SEEN[0]) == before


def test_too_few_tasks_have_no_quantile() -> None:
    assert Plausibility(SEEN, GROUPS).threshold(0.1) < -1e9
