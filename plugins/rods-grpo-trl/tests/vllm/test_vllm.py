"""GRPO whose rollouts a real vLLM engine samples, without a GPU: ``make test-vllm``.

Everything is fp32, so that what should be equal can be held to be equal.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

EQUAL = 2e-5  # of log-probabilities in fp32
DIFFERENT = 1e-2  # after an update; measured 0.1 to 1


# ------------------------------------------------------------------------------- claims
def assert_exact(outcome: Any) -> None:
    """The trainer and vLLM agree on every sampled token of every step."""
    for metrics in outcome["metrics"]:
        assert metrics["sampling/sampling_logp_difference/max"] < 1e-4
        assert metrics["sampling/importance_sampling_ratio/min"] == pytest.approx(1, abs=1e-4)
        assert metrics["sampling/importance_sampling_ratio/max"] == pytest.approx(1, abs=1e-4)
    # a step whose groups are all of one mind has none
    assert any(metrics["grad_norm"] > 0 for metrics in outcome["metrics"])


def assert_synchronised(probe: dict[str, float]) -> None:
    """vLLM has the policy's weights whenever it samples, and only then."""
    assert probe["synchronised"] < EQUAL
    assert probe["behind by an update"] > DIFFERENT
    assert probe["synchronised again"] < EQUAL


def messages(mask: list[int]) -> int:
    """How many messages the policy spoke: runs of sampled tokens."""
    return sum(key for key, _ in itertools.groupby(mask))


def calls(step: Any) -> list[int]:
    """With how many live conversations a rank asked vLLM, call by call."""
    spoken = [messages(mask) for mask, _ in step]
    return [sum(n > call for n in spoken) for call in range(max(spoken, default=0))]


# ------------------------------------------------------------------------------- colocated
@pytest.fixture(scope="module")
def colocated(tmp_path_factory: pytest.TempPathFactory, run_script: Callable[..., Any]) -> Any:
    folder = tmp_path_factory.mktemp("colocated")
    return run_script(folder, "training_run.py", "colocate", "--unmask").outcome()


def test_a_colocated_engine_has_the_policys_weights_whenever_it_samples(colocated: Any) -> None:
    assert_synchronised(colocated["probe"])
    assert colocated["evaluated"] == [True]


def test_the_importance_ratio_of_a_colocated_engine_is_one(colocated: Any) -> None:
    assert len(colocated["metrics"]) == 4
    assert_exact(colocated)


def test_conversations_have_several_turns_whose_shown_tokens_carry_no_probability(
    colocated: Any,
) -> None:
    rollouts = [rollout for step in colocated["steps"] for rollout in step]
    assert max(messages(mask) for mask, _ in rollouts) == 2
    tokens = [pair for rollout in rollouts for pair in zip(*rollout, strict=True)]
    assert all(logprob == 0.0 for mask, logprob in tokens if mask == 0)
    assert all(logprob < 0.0 for mask, logprob in tokens if mask == 1)


def test_without_the_mask_shown_tokens_would_ruin_the_ratio(colocated: Any) -> None:
    name = "sampling/sampling_logp_difference/max"
    assert max(metrics[name] for metrics in colocated["unmasked"]) > 1.0


def test_the_offices_policy_speaks_through_vllm_with_the_trainers_own_options(
    tmp_path: Path, run_script: Callable[..., Any]
) -> None:
    outcome = run_script(tmp_path, "office_run.py").outcome()
    assert outcome["probe"] < EQUAL
    assert len(outcome["scored"]) == 16
    assert all(outcome["scored"])
    assert set(outcome["stops"]) <= {"completed", "max_tokens", "max_steps", "gave_up"}


# ------------------------------------------------------------------------------- server
@dataclass(frozen=True)
class Server:
    port: int
    log: Path


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory,
    run_script: Callable[..., Any],
    serve: Callable[..., Any],
    free_port: Callable[[], int],
) -> Iterator[Server]:
    """The server that ``rods run`` says to start, but for its weight transfer and its type."""
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    advice = run_script(folder, "server_advice.py", port).outcome()
    assert '{"backend":"nccl"}' in advice
    command = advice.replace("nccl", "gloo") + " --host 127.0.0.1 --dtype float32 --enforce-eager"
    with serve(command, folder, port) as log:
        yield Server(port, log)


def server_options(server: Server, free_port: Callable[[], int]) -> list[str]:
    return ["server", f"--port={server.port}", f"--group-port={free_port()}"]


def test_two_ranks_share_a_server_and_stay_in_lockstep(
    tmp_path: Path, server: Server, run_script: Callable[..., Any], free_port: Callable[[], int]
) -> None:
    options = server_options(server, free_port)
    done = run_script(tmp_path, "training_run.py", *options, ranks=2)
    first, second = done.outcome(0), done.outcome(1)
    assert_synchronised(first["probe"])
    assert_exact(first)
    assert first["evaluated"] == [True] * 3
    pairs = list(zip(first["steps"], second["steps"], strict=True))
    assert any(calls(a) != calls(b) for a, b in pairs), "no padding was needed: a weak test"
    assert server.log.read_text().count("/finish_weight_update") >= 4


def test_ranks_out_of_step_do_not_get_their_answers(
    tmp_path: Path, server: Server, run_script: Callable[..., Any], free_port: Callable[[], int]
) -> None:
    options = [*server_options(server, free_port), "--ddp-timeout-s=60", "--no-lockstep"]
    done = run_script(tmp_path, "training_run.py", *options, ranks=2, timeout_s=600)
    assert done.status != 0  # an error, or none within the time
    assert done.status is None or "rods_grpo_trl/trl_generation.py" in done.log, done.log[-6000:]
