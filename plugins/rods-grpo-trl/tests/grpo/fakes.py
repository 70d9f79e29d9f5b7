"""A world, a dialect, a policy and a curriculum that are small enough to train in seconds."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from rods_grpo_trl.config import GrpoConfig
from rods_grpo_trl.dialect import Dialect
from rods_grpo_trl.trainer import GrpoTrainer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from rods.errors import WorldError
from rods.interfaces import Environment, Session, Synthesizer
from rods.types import (
    AssistantMessage,
    Candidate,
    EpochPlan,
    JsonObject,
    Message,
    Regions,
    RolloutGroup,
    Split,
    StepReport,
    SynthesisOutcome,
    Task,
    ToolCall,
    ToolResult,
    ToolSpec,
    TrainingStage,
    Turn,
    Visit,
)

LAMPS = ("red", "green", "blue")
WORDS = ("<pad>", "<user>", "<tool>", "<say>", ".", "ok", "light", "dark", *LAMPS)


# ------------------------------------------------------------------------------- the world
class LampSession(Session):
    """Three lamps; a tool of a lamp's name switches it on."""

    def __init__(self, task: Task) -> None:
        self.on = dict(task.initial_state)

    def call(self, call: ToolCall) -> ToolResult:
        if call.name not in self.on:
            return ToolResult(content="dark", error=True)
        self.on[call.name] = True
        return ToolResult(content="light")

    def state(self) -> JsonObject:
        return dict(self.on)

    def snapshot(self) -> Any:
        return dict(self.on)

    def restore(self, snapshot: Any) -> None:
        self.on = dict(snapshot)


class LampWorld(Environment):
    """Two turns, each wants one lamp on. ``outage`` says which tasks cannot be opened."""

    name = "lamps"

    def __init__(self, outage: Callable[[Task], bool] = lambda task: False) -> None:
        super().__init__()
        self.outage = outage

    def tasks(self, split: Split) -> Sequence[Task]:
        pairs = [(a, b) for a in LAMPS for b in LAMPS if a != b]
        return [lamp_task(a, b) for a, b in (pairs[:4] if split == "train" else pairs[4:])]

    def tools(self) -> Mapping[str, ToolSpec]:
        schema: JsonObject = {"type": "object", "properties": {}}
        return {n: ToolSpec(name=n, description=n, parameters=schema) for n in LAMPS}

    def open(self, task: Task) -> LampSession:
        if self.outage(task):
            raise WorldError("the lamps' server is down")
        return LampSession(task)


def lamp_task(*wanted: str) -> Task:
    """A task that wants the lamps on, one a turn."""
    return Task(
        id="-".join(wanted),
        environment="lamps",
        tools=LAMPS,
        turns=tuple(Turn(user=name, reference=(ToolCall(name=name),)) for name in wanted),
        initial_state=dict.fromkeys(LAMPS, False),
    )


class LampSynthesizer(Synthesizer):
    """Other lamps in as many turns."""

    name = "lamps"

    def synthesize(self, seed: Task, *, n: int, rng_seed: int) -> SynthesisOutcome:
        rng = random.Random(f"{rng_seed}/{seed.id}")
        made = [lamp_task(*rng.choices(LAMPS, k=len(seed.turns) + 1)) for _ in range(n)]
        lineage = {"origin": "synthetic", "parent_id": seed.id, "generation": seed.generation + 1}
        tasks = [task.model_copy(update=lineage).with_content_id() for task in made]
        return SynthesisOutcome(
            candidates=tuple(Candidate(task=task, seed_id=seed.id) for task in tasks)
        )


# ------------------------------------------------------------------------------- the language
class LampDialect(Dialect):
    """One token a word; a message is the lamps it names, and ends the turn with a full stop."""

    def __init__(self) -> None:
        self.ids = {word: number for number, word in enumerate(WORDS)}
        self.eos_ids = frozenset({self.ids["."]})

    def prompt_ids(self, opening: Sequence[Message], tools: Sequence[ToolSpec]) -> list[int]:
        return self.suffix_ids(opening)

    def suffix_ids(self, shown: Sequence[Message]) -> list[int]:
        ids = [self.ids[word] for m in shown for word in (f"<{m.role}>", m.content)]
        return [*ids, self.ids["<say>"]]

    def parse(self, ids: Sequence[int]) -> AssistantMessage:
        names = [WORDS[i] for i in ids if WORDS[i] in LAMPS]
        return AssistantMessage(calls=tuple(ToolCall(name=n) for n in names), ends_turn=True)

    def message_ids(self, message: AssistantMessage) -> list[int]:
        return [*(self.ids[call.name] for call in message.calls), self.ids["."]]


@dataclass
class LampPolicy:
    """A random Llama of a few thousand parameters."""

    model: LlamaForCausalLM
    tokenizer: PreTrainedTokenizerFast
    dialect: LampDialect = field(default_factory=LampDialect)
    context: int = 64

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def lamp_policy(folder: Path, seed: int = 0, head_dim: int = 16) -> LampPolicy:
    """A policy that lies in ``folder`` too, where TRL looks for reference models and vLLM loads."""
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_word_tokenizer(), pad_token="<pad>", eos_token=".", padding_side="left"
    )
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=head_dim,
        max_position_embeddings=64,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=WORDS.index("."),
        pad_token_id=0,
        dtype=torch.float32,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return LampPolicy(LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32), tokenizer)


def _word_tokenizer() -> Tokenizer:
    backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, "<pad>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return backend


class LampTrainer(GrpoTrainer):
    """The trainer with the lamp policy instead of one that its configuration names."""

    def __init__(self, folder: Path, config: GrpoConfig | None = None, **options: Any) -> None:
        super().__init__(config or lamp_config(**options))
        self.folder = folder
        self.policy: LampPolicy | None = None

    def make_policy(self, environment: Environment, run: Any) -> LampPolicy:
        self.policy = lamp_policy(self.folder)
        return self.policy


def lamp_config(**options: Any) -> GrpoConfig:
    """Four prompts x four rollouts a step."""
    defaults = {
        "group_size": 4,
        "prompts_per_step": 4,
        "micro_batch_size": 16,
        "learning_rate": 1e-2,
        "max_prompt_length": 8,
        "max_completion_length": 24,
        "message_budget": 4,
        "save_every": 1,
    }
    return GrpoConfig(**{**defaults, **options})


# ------------------------------------------------------------------------------- the seam
class LampCurriculum:
    """Visits in an order that depends on all that was observed; kept in ``folder`` if there is one.

    Like the real one it survives a kill: each step's groups are one file, ``rewind`` deletes files.
    """

    def __init__(
        self,
        epochs: int = 2,
        epoch_size: int = 8,
        *,
        stage: TrainingStage | None = None,
        folder: Path | None = None,
    ) -> None:
        self.epochs, self.epoch_size = epochs, epoch_size
        self.stage = stage or TrainingStage()
        self.tasks = {task.id: task for task in LampWorld().tasks("train")}
        self.folder, self.rewound = folder, list[int]()
        self.observed: dict[int, list[RolloutGroup]] = {}
        for path in sorted(folder.glob("*.json")) if folder else ():
            lines = path.read_text().splitlines()
            groups = [RolloutGroup.model_validate_json(line) for line in lines]
            self.observed[int(path.stem)] = groups

    def begin_epoch(self, epoch: int) -> EpochPlan:
        seen = [(s, g.entry_id, g.rewards) for s, gs in self.observed.items() for g in gs]
        rng = random.Random(f"{epoch}/{sorted(x for x in seen if x[0] <= 2 * epoch)}")
        names = rng.choices(sorted(self.tasks), k=self.epoch_size)
        visits = tuple(Visit(entry_id=name) for name in names)
        return EpochPlan(epoch=epoch, stage=self.stage, visits=visits)

    def draw(self, visit: Visit) -> Task:
        return self.tasks[visit.entry_id]

    def observe(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        assert step not in self.observed, f"step {step} was observed twice"
        self.observed[step] = list(groups)
        if self.folder:
            self.folder.mkdir(exist_ok=True)
            lines = "\n".join(group.model_dump_json() for group in groups)
            (self.folder / f"{step:04d}.json").write_text(lines)

    def rewind(self, step: int) -> None:
        self.rewound.append(step)
        for late in [s for s in self.observed if s > step]:
            del self.observed[late]
            if self.folder:
                (self.folder / f"{late:04d}.json").unlink()


@dataclass
class LampRun:
    """A run's folder that remembers its reports."""

    path: Path
    seed: int = 0
    resume: bool = False
    reports: list[StepReport] = field(default_factory=list)
    stop_at: int = 0  # the step within which somebody presses Ctrl-C
    stopping: bool = False

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    def progress(self, what: str, done: int, total: int) -> None: ...

    def log_rollouts(self, step: int, groups: Sequence[RolloutGroup]) -> None: ...

    def report(
        self, step: int, steps: int, groups: Sequence[RolloutGroup], trainer: Mapping[str, float]
    ) -> StepReport:
        report = StepReport(
            step=step,
            steps=steps,
            epoch=0,
            reward=sum(group.mean for group in groups) / len(groups),
            regions=Regions(boundary=sum(group.variance > 0 for group in groups)),
            pool={"active": 4},
            funnel={},
            seconds=0.0,
            trainer=dict(trainer),
        )
        self.reports.append(report)
        self.stopping = step == self.stop_at
        return report


def weights(trainer: LampTrainer) -> torch.Tensor:
    """All parameters in one vector."""
    assert trainer.policy is not None
    return weights_of(trainer.policy.model)


def weights_of(model: torch.nn.Module) -> torch.Tensor:
    """All parameters of a model in one vector."""
    return torch.cat([p.detach().flatten() for p in model.parameters()])
