"""Gives a sequence of functions its values, call by call in a live world."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice

from rods.errors import WorldError
from rods.interfaces import Environment
from rods.structure.planning.assigning import Assignment
from rods.structure.planning.catalog import Catalog
from rods.structure.planning.combining import Made, combinations, in_keeping, is_topic
from rods.structure.planning.effects import Judgement, Shadows
from rods.structure.planning.guidance import Guide
from rods.structure.planning.options import Strictness
from rods.structure.planning.patching import Patcher, patched, template_of
from rods.structure.planning.search import Names, Search, Space, feeders
from rods.structure.planning.values import Draw, Place, Values
from rods.structure.planning.world import Donor, Said, World, tells
from rods.structure.proposal import Patch
from rods.structure.schema import CallValidator
from rods.types import ToolCall

_ASSIGNMENTS = 3
_TRIES = 5  # calls made for one assignment; one that needs the wrong calls counts double
_OTHERS = 4  # functions that one is chosen from
_PATCHES_TRIED = 4
_HOPELESS = 8  # patches of one kind of failure in a row that did not help
_TOO_MUCH = "needs too much"
_UNLUCKY, _LUCKY = 0.6, 1.1


@dataclass(slots=True)
class Filled:
    """A plan that has run once; nothing about it is proven yet."""

    donor: Donor  # patches applied
    names: Names
    calls: list[ToolCall]
    said: list[list[str]]  # by turn
    holes: list[frozenset[str]]  # by call
    patches: tuple[Patch, ...] = ()


@dataclass(slots=True)
class Failures:
    """Why plans did not come about."""

    reasons: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Means:
    """What filling works with."""

    environment: Environment
    catalog: Catalog
    judgement: Judgement
    values: Values
    search: Search
    patcher: Patcher
    validator: CallValidator
    reads: frozenset[str]  # the tools that change nothing
    max_swaps: int
    max_patches: int
    strictness: Strictness

    def shadows(self, donor: Donor) -> Shadows | None:
        """The donor's world with one call each left out; none where state edges do not count."""
        if self.strictness == "loose":
            return None
        return Shadows(self.environment.open(donor.task), self.judgement.fails, self.reads)

    def world(self, donor: Donor) -> World:
        """The donor's world, fresh."""
        return World(self.environment, donor, self.catalog, self.judgement)


class Filling:
    """One sequence of functions on its way to a plan: values, then a patch, then a swap."""

    def __init__(
        self,
        means: Means,
        space: Space,
        donor: Donor,
        names: Names,
        rng: random.Random,
        is_new: Callable[[Names], bool],
    ) -> None:
        self._means, self._space, self._rng, self._is_new = means, space, rng, is_new
        self._lender = donor.task.id
        self._world = means.world(donor)
        self._shadows = means.shadows(donor)
        self._world.guide = self._guide()
        self._names = list(names)
        self._said = Said()
        self._patches: list[Patch] = []
        self._swaps = 0
        self._refused: set[str] = set()  # functions that the next call cannot be
        self._kept: list[Made] = []
        per_turn = space.skeleton.calls_per_turn
        self._turns = [turn for turn, count in enumerate(per_turn) for _ in range(count)]
        self.reached = 0  # calls that worked
        self._broken: Made | None = None  # what the world answered with an error
        self._error = self._reason = ""
        self._loose: tuple[Made, frozenset[int]] | None = None  # works, and without these too

    def _guide(self) -> Guide | None:
        return Guide(self._shadows, self._world.donor.task.tools) if self._shadows else None

    def filled(self, failures: Failures) -> Filled | None:
        """The plan with values, or None; ``failures`` counts why."""
        try:
            while len(self._kept) < len(self._names):
                if not self._advance(failures):
                    failures.reasons["no_values"] += 1
                    return None
        finally:
            self._world.close()
            if self._shadows is not None:
                self._shadows.close()
        self._said.say(len(self._space.skeleton.calls_per_turn) - 1, ())
        return Filled(
            self._world.donor,
            tuple(self._names),
            self._world.calls,
            self._said.lines,
            [made.holes for made in self._kept],
            tuple(self._patches),
        )

    def _advance(self, failures: Failures) -> bool:
        """One more call is made, or its function is another one now."""
        call = len(self._kept)
        name, luck = self._names[call], self._space.luck[call]
        place = (self._lender, tuple(self._names[: call + 1]))
        made, stuck = None, self._space.stuck
        if not stuck.holds(place):
            made = self._made(call, failures) or self._made_after_patch() or self._made_needy()
            if made is None:
                stuck.note(place, self._reason)
        if made is not None:
            luck[name] = min(1.5, luck.get(name, 1.0) * _LUCKY)
            self._keep(call, made)
            self._refused.clear()
            self.reached = len(self._kept)
            return True
        luck[name] = max(0.02, luck.get(name, 1.0) * _UNLUCKY)
        self._refused.add(name)
        other = self._other(call) if self._swaps < self._means.max_swaps else None
        if other is not None:
            self._swaps += 1
            self._names[call] = other
        return other is not None

    def _keep(self, call: int, made: Made) -> None:
        """The call belongs to the plan."""
        if self._shadows is not None:
            self._shadows.keep(made.call)
        if self._world.guide is not None and made.call.name not in self._means.reads:
            self._world.guide.forget()
        self._said.say(self._turns[call], made.said)
        self._world.topics.extend(filter(is_topic, made.said))
        self._said.guard(self._turns[call], made.unsaid)
        self._kept.append(made)

    def _other(self, call: int) -> str | None:
        """Another function for the call, likelier the better it has worked here."""
        search, space, names = self._means.search, self._space, tuple(self._names)
        fitting = (
            name
            for name in search.replacements(space, names, call)
            if name not in self._refused
            and search.assignable(space, names, call, name)
            and search.plausible(changed := (*names[:call], name, *names[call + 1 :]))
            and self._is_new(changed)
        )
        found = list(islice(fitting, _OTHERS))
        weights = [space.luck[call].get(name, 1.0) for name in found]
        return self._rng.choices(found, weights)[0] if found else None

    # ------------------------------------------------------------------------ values
    def _made(self, call: int, failures: Failures) -> Made | None:
        """The call has been made with values that carry its labels."""
        self._broken = self._loose = None
        guide, wanted = self._world.guide, self._wanted(call)
        if guide is not None:
            guide.turn_to(wanted, self._space.skeleton.kin(call))
        made, reason = self._made_as_labelled(call)
        if made is None and reason == _TOO_MUCH and guide is not None and not guide.sharp:
            guide.sharp = True  # it pays only now to look at the other worlds
            made, reason = self._made_as_labelled(call)
        self._reason = reason
        if made is None:
            failures.calls[f"{self._names[call]}: {reason[:60]}"] += 1
        return made

    def _made_as_labelled(self, call: int) -> tuple[Made | None, str]:
        labels, name = self._space.skeleton.labels[call], self._names[call]
        options = self._means.search.assigner.assignments(
            name, labels, feeders(labels, self._names)
        )
        known: dict[Place, list[Draw]] = {}
        reason, left = "", _ASSIGNMENTS
        for assignment in [*options[:1], *self._rng.sample(options[1:], len(options[1:]))]:
            places = [Place(name, p, label) for p, label in zip(assignment, labels, strict=True)]
            pools = [self._pool(place, known) for place in places]
            if not all(pools):
                empty = next(p for p, pool in zip(places, pools, strict=True) if not pool)
                reason = reason or f"no value for {empty.parameter}: {empty.label.kind.value}"
                continue
            made, problem = self._tried(call, assignment, pools)
            left -= 1
            if made is not None or not left:
                return made, problem
            reason = problem
        return None, reason

    def _pool(self, place: Place, known: dict[Place, list[Draw]]) -> list[Draw]:
        """The values for a place; the assignments of one call share them."""
        if place not in known:
            known[place] = self._means.values.draws(place, self._world, self._said, self._rng)
        return known[place]

    def _tried(
        self, call: int, assignment: Assignment, pools: list[list[Draw]]
    ) -> tuple[Made | None, str]:
        name, reason, left = self._names[call], "", _TRIES
        for drawn in self._choices(name, assignment, pools):
            made = Made.of(name, drawn)
            problem = self._clash(call, made) or self._means.validator.problem(made.call)
            if not problem:
                problem = self._attempt(call, made)
                left -= 1
                if not problem and (problem := self._other_edges(call, made) or ""):
                    left -= 1
            if not problem:
                return made, ""
            reason = reason or problem
            if left <= 0:
                break
        return None, reason

    def _choices(
        self, name: str, assignment: Assignment, pools: list[list[Draw]]
    ) -> Iterable[dict[str, Draw]]:
        """A value for every parameter, best choice first."""
        found = (
            dict(zip(assignment, drawn, strict=True)) for drawn in combinations(pools, self._rng)
        )
        rules = self._means.catalog.records.get(name)
        return in_keeping(rules, found, self._world.state, self._rng) if rules else found

    def _wanted(self, call: int) -> frozenset[int]:
        return frozenset(i for i, j in self._space.skeleton.hard if j == call)

    def _other_edges(self, call: int, made: Made) -> str | None:
        """The call has been undone where it needs other calls than the seed's does."""
        if self._shadows is None:
            return None
        wanted = self._wanted(call)
        needed = self._shadows.needed_by(made.call)
        if needed == wanted:
            return None
        if self._loose is None and needed < wanted:
            self._loose = made, wanted - needed
        self._world.undo()
        return _TOO_MUCH if needed - wanted else "needs too little"

    def _clash(self, call: int, made: Made) -> str | None:
        """What is said would change where another value of the turn comes from."""
        texts = [v for v in made.call.arguments.values() if isinstance(v, str) and len(v) > 1]
        if len(texts) != len(set(texts)):
            return "one value twice"
        if tells(made.said, made.unsaid) or self._said.spoils(self._turns[call], made.said):
            return "said elsewhere"
        return None

    def _attempt(self, call: int, made: Made) -> str:
        self._world.failed = None
        turn, skeleton = self._turns[call], self._space.skeleton
        alone = skeleton.calls_per_turn[turn] == 1 and turn not in skeleton.idle
        later = any(i == call for i, _ in skeleton.hard)
        reason = self._world.attempt(made.call, alone=alone, quiet=later) or ""
        if self._world.failed is not None and self._broken is None:
            self._broken, self._error = made, self._world.error
        return reason

    # ------------------------------------------------------------------------ patches
    def _made_after_patch(self) -> Made | None:
        """The first call that failed works, with the same arguments, in a changed world."""
        made = self._broken
        if made is None or len(self._patches) >= self._means.max_patches:
            return None
        template, unmended = template_of(made.call, self._error), self._space.unmended
        recipes = self._means.catalog.recipes.get(template, [])
        left = _PATCHES_TRIED if unmended[template] < _HOPELESS else 0
        for recipe in recipes:
            why = self._error[:200]
            for patch in self._means.patcher.patches(recipe, made.call, self._world, why):
                left -= 1
                if left < 0:
                    return None
                if self._works(patch, made.call):
                    self._patches.append(patch)
                    unmended[template] = 0
                    return made
                unmended[template] += 1
        return None

    def _made_needy(self) -> Made | None:
        """A call that worked too easily needs what it should in a changed world."""
        if self._loose is None or len(self._patches) >= self._means.max_patches:
            return None
        made, idle = self._loose
        why = f"{made.call.name} works without {self._names[max(idle)]}"
        if self._space.unmended[why] >= _HOPELESS:
            return None
        left = _PATCHES_TRIED
        for change in map(self._world.change, sorted(idle)):
            for patch in self._means.patcher.undoing(change, self._world, why) if change else ():
                left -= 1
                if left < 0:
                    return None
                if self._works(patch, made.call):
                    self._patches.append(patch)
                    self._space.unmended[why] = 0
                    return made
                self._space.unmended[why] += 1
        return None

    def _works(self, patch: Patch, call: ToolCall) -> bool:
        """All calls so far and this one work after the change; the world is then the new one."""
        world = self._replayed(patch, call)
        if world is None:
            return False
        shadows = self._shadowed(world.donor, world.calls)
        if shadows is not None and shadows.needed_by(call) != self._wanted(len(self._kept)):
            shadows.close()
            world.close()
            return False
        self._replace(world, shadows)
        return True

    def _replayed(self, patch: Patch, call: ToolCall) -> World | None:
        """A changed world in which all calls so far answered as before, and this one worked."""
        means, task = self._means, self._world.donor.task
        with ExitStack() as stack:
            try:
                state = patched(task.initial_state, [patch])
                changed = task.model_copy(update={"initial_state": state})
                world = means.world(Donor.of(means.environment, changed))
                stack.callback(world.close)
                again = (*self._world.calls, call)
                made = all(world.attempt(each, quiet=True) is None for each in again)
            except WorldError:
                raise  # an outage tells nothing about the change
            except Exception:  # noqa: BLE001 - a world may refuse a changed state in any way
                return None
            if not made or world.contents[:-1] != self._world.contents:
                return None  # an answer that shows the change would be where the value is from
            stack.pop_all()
            return world

    def _shadowed(self, donor: Donor, calls: Sequence[ToolCall]) -> Shadows | None:
        """The shadows of all calls but the last."""
        shadows = self._means.shadows(donor)
        if shadows is not None:
            for call in calls[:-1]:
                shadows.needed_by(call)
                shadows.keep(call)
        return shadows

    def _replace(self, world: World, shadows: Shadows | None) -> None:
        world.topics = self._world.topics
        self._world.close()
        if self._shadows is not None:
            self._shadows.close()
        self._world, self._shadows = world, shadows
        world.guide = self._guide()
