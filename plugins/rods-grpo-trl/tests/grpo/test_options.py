"""Options: defaults that fit the policy, and no key that is silently lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rods_grpo_trl.config import GrpoConfig
from rods_grpo_trl.grpo_args import (
    FIELDS,
    FIXED,
    OURS,
    batch_shape,
    check_options,
    grpo_config,
    rollout_budget,
)

from rods.errors import ConfigError


def args(folder: Path, generation: str = "cached", **options: Any) -> Any:
    config = GrpoConfig(**options)
    return grpo_config(config, folder, seed=5, generation=generation, eos_ids=frozenset((7, 3)))


def test_a_tiny_policy_gets_defaults_of_its_own_which_a_user_overrides() -> None:
    assert GrpoConfig().group_size == 8
    assert GrpoConfig(group_size=4).group_size == 4
    assert GrpoConfig(model="Qwen/Qwen2.5-7B-Instruct").group_size == 16


def test_every_field_says_what_it_is() -> None:
    assert [n for n, f in GrpoConfig.model_fields.items() if not f.description] == []


def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no option 'epsilon_hi'.*'epsilon_high'"):
        check_options(GrpoConfig(grpo={"epsilon_hi": 0.28}))


@pytest.mark.parametrize("key", sorted(OURS))
def test_an_option_that_has_a_place_of_its_own_is_refused_with_it(key: str) -> None:
    with pytest.raises(ConfigError, match=f"trainer.grpo.{key} is not set here: use"):
        check_options(GrpoConfig(grpo={key: 1}))


@pytest.mark.parametrize("key", sorted(FIXED))
def test_an_option_that_would_break_the_seam_is_refused(key: str) -> None:
    with pytest.raises(ConfigError, match=f"trainer.grpo.{key} must stay"):
        check_options(GrpoConfig(grpo={key: "other"}))
    check_options(GrpoConfig(grpo={key: FIXED[key][0]}))


def test_what_only_other_samplers_know_is_refused_for_the_cache() -> None:
    with pytest.raises(ConfigError, match="top_p has no effect"):
        check_options(GrpoConfig(generation="cached", grpo={"top_p": 0.9}))


def test_all_names_exist_in_trl() -> None:
    missing = (set(OURS) | set(FIXED)) - FIELDS
    assert missing <= {"activation_checkpointing"}  # transformers 5.17 has only the older name


def test_options_reach_trl(tmp_path: Path) -> None:
    made = args(tmp_path, beta=0.02, group_size=4, grpo={"epsilon_high": 0.28})
    assert (made.beta, made.num_generations, made.epsilon_high) == (0.02, 4, 0.28)
    assert (made.top_p, made.report_to, made.seed) == (1.0, [], 5)
    assert made.generation_batch_size == 32


def test_a_value_that_trl_refuses_is_our_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="TRL refuses the options"):
        args(tmp_path, grpo={"adam_beta1": "much", "optim": "no-such-optimizer"})


def test_vllm_truncates_token_ratios_and_stops_at_the_dialects_tokens(tmp_path: Path) -> None:
    made = args(tmp_path, "vllm-server", vllm={"server_port": 9001}, max_prompt_length=10)
    assert (made.use_vllm, made.vllm_mode, made.vllm_server_port) == (True, "server", 9001)
    assert made.vllm_importance_sampling_mode == "token_truncate"
    assert made.generation_kwargs == {"stop_token_ids": [3, 7]}
    assert made.vllm_max_model_length == 10 + 512


def test_an_engine_is_made_for_no_more_tokens_than_the_policy_has(tmp_path: Path) -> None:
    config = GrpoConfig(max_prompt_length=100, max_completion_length=200)
    for context, length in ((256, 256), (4096, 300)):
        made = grpo_config(
            config,
            tmp_path,
            seed=0,
            generation="vllm-colocate",
            eos_ids=frozenset((1,)),
            context=context,
        )
        assert made.vllm_max_model_length == length


@pytest.mark.parametrize(
    ("generation", "context", "engine", "budget"),
    [
        ("cached", 256, 128, 256),
        ("vllm-colocate", 256, None, 256),
        ("vllm-colocate", 256, 128, 128),
        ("vllm-server", 256, None, 256 - 64),
        ("vllm-server", 4096, 128, 128 - 64),
        ("vllm-server", 4096, None, 768),
    ],
)
def test_a_rollout_ends_before_its_sampler_would_refuse_it(
    generation: str, context: int, engine: int | None, budget: int
) -> None:
    config = GrpoConfig(vllm={"max_model_length": engine})
    assert rollout_budget(config, context, generation) == budget


@pytest.mark.parametrize(
    ("ranks", "micro", "shape"), [(1, 64, (64, 1)), (1, 24, (16, 4)), (2, 64, (32, 1))]
)
def test_a_step_is_cut_into_equal_forward_passes(
    ranks: int, micro: int, shape: tuple[int, int]
) -> None:
    assert batch_shape(GrpoConfig(micro_batch_size=micro), ranks) == shape


def test_a_step_that_does_not_divide_among_the_ranks_is_refused() -> None:
    with pytest.raises(ConfigError, match="do not divide among 3 ranks"):
        batch_shape(GrpoConfig(), 3)


def test_a_checkpoint_lies_between_two_generations() -> None:
    with pytest.raises(ConfigError, match="must be a multiple of"):
        check_options(GrpoConfig(save_every=8, grpo={"num_iterations": 3}))
