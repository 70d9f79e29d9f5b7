"""Sampling through TRL: transformers, vLLM in this process, or a vLLM server."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from rods_grpo_trl import adapter
from rods_grpo_trl.adapter import SeamTrainer
from rods_grpo_trl.conversation import Conversation
from rods_grpo_trl.generation import Generator
from rods_grpo_trl.ranks import gather


class TrlGenerator(Generator):
    """One message of every live conversation a call, until all are done; equal seeds repeat it.

    (A vLLM engine keeps a random state of its own: there a seed repeats nothing.) Where ranks must
    call together, a rank with fewer live conversations sends dummies along and drops their answers.
    """

    def __init__(self, trainer: SeamTrainer, seed: int) -> None:
        self.trainer, self.seed = trainer, seed
        self.lockstep = adapter.needs_lockstep(trainer)

    def run(self, conversations: Sequence[Conversation]) -> None:
        """Sample until every conversation is done, on every rank."""
        devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(self.seed)
            while turn := self._next_turn(conversations):
                live, calls, room = turn
                self._speak(live, calls, room)

    def _next_turn(
        self, conversations: Sequence[Conversation]
    ) -> tuple[list[Conversation], int, int] | None:
        """The live conversations, how many prompts this rank sends, the longest message's room."""
        live = [c for c in conversations if not c.done]
        calls, room = len(live), max((c.room for c in live), default=0)
        if self.lockstep:
            shapes = gather([(calls, room)])
            calls, room = max(c for c, _ in shapes), max(r for _, r in shapes)
        return (live, calls, room) if calls else None

    def _speak(self, live: list[Conversation], calls: int, room: int) -> None:
        """Send ``calls`` prompts: those of the live conversations, filled up with dummies."""
        prompts = [c.prompt_ids + c.completion_ids for c in live]
        dummies = [[self.trainer.eos_token_ids[0]]] * (calls - len(live))
        messages, logprobs = adapter.generate(self.trainer, prompts + dummies, room)
        for number, conversation in enumerate(live):
            n = conversation.room
            scores = logprobs[number][:n] if logprobs is not None else None
            conversation.accept(messages[number][:n], scores)
