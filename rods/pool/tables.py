"""The pool's tables. Every row that can be taken back carries the step at which it happened.

Columns that grow with the text of a task live in tables of their own, so that an epoch boundary
scans narrow rows only.
"""

from __future__ import annotations

import hashlib

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

SHUFFLE_PRIME = 2**31 - 1  # keys are below it, so that key * factor fits into 64 bits
# Text in the order of its bytes on every database, whatever the server's locale.
TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


class _Table(SQLModel):
    metadata = sa.MetaData()


def _entry_id(primary_key: bool = False) -> sa.Column[str]:
    """A reference to an entry that goes when the entry goes."""
    key = sa.ForeignKey("rods_entry.id", ondelete="CASCADE")
    return sa.Column("entry_id", TEXT, key, nullable=False, primary_key=primary_key)


class Entry(_Table, table=True):
    """A task by its state and what was last measured of it (derived from the logs below)."""

    __tablename__ = "rods_entry"
    __table_args__ = (
        sa.Index("rods_entry_state", "state", "origin", "kind"),
        sa.Index("rods_entry_order", "created_step", "id"),
        sa.Index("rods_entry_parent", "parent_id"),
    )

    id: str = Field(primary_key=True, sa_type=TEXT)
    kind: str
    origin: str
    state: str
    reason: str | None = None
    parent_id: str | None = None
    generation: int = 0
    distance: float = 0.0
    created_step: int
    entered_step: int | None = None  # when it was first on trial
    visits: int = 0  # scored groups
    mean: float | None = None  # of the last scored group, as are variance and last_step
    variance: float | None = None
    flat_visits: int = 0  # last consecutive scored groups without variance
    last_step: int | None = None
    first_mean: float | None = None  # when trial last turned active
    shuffle: int = Field(sa_type=sa.BigInteger)  # hash of the id: orders that no database decides


class Payload(_Table, table=True):
    """The task itself as JSON, without its provenance."""

    __tablename__ = "rods_payload"

    entry_id: str = Field(sa_column=_entry_id(primary_key=True))
    task: str = Field(sa_type=sa.Text)


PROVENANCE_JSON = ("substitutions", "models", "stages", "tried")  # columns that hold JSON


class ProvenanceRow(_Table, table=True):
    """How a synthetic task was made and what it cost."""

    __tablename__ = "rods_provenance"

    entry_id: str = Field(sa_column=_entry_id(primary_key=True))
    synthesizer: str
    seed: int = Field(sa_type=sa.BigInteger)
    program: str = ""
    edit: str = ""
    substitutions: str = Field(sa_type=sa.Text)  # JSON
    models: str = Field(
        default="[]", sa_type=sa.Text, sa_column_kwargs={"server_default": "[]"}
    )  # JSON
    structure: str = Field(default="", sa_column_kwargs={"server_default": ""})
    stages: str = Field(
        default="{}", sa_type=sa.Text, sa_column_kwargs={"server_default": "{}"}
    )  # JSON
    tried: str = Field(
        default="[]", sa_type=sa.Text, sa_column_kwargs={"server_default": "[]"}
    )  # JSON
    calls: int = 0
    tokens: int = Field(default=0, sa_type=sa.BigInteger)
    seconds: float = 0.0


class Observation(_Table, table=True):
    """K rollouts of one draw of one entry. Without two rewards it moves nothing."""

    __tablename__ = "rods_observation"
    __table_args__ = (
        sa.Index("rods_observation_entry", "entry_id", "step", "id"),
        sa.Index("rods_observation_step", "step"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    entry_id: str = Field(sa_column=_entry_id())
    step: int
    epoch: int
    draw_seed: int | None = Field(default=None, sa_type=sa.BigInteger)
    rewards: str = Field(sa_type=sa.Text)  # JSON list of K, null where an outage ended the rollout
    mean: float | None = None  # over the scored rollouts
    variance: float | None = None
    policy_version: int = 0  # the oldest among the rollouts
    scored: bool
    unscored: int = 0
    format_failures: int = 0


class Transition(_Table, table=True):
    """One change of state; the last one of an entry is its present state."""

    __tablename__ = "rods_transition"
    __table_args__ = (
        sa.Index("rods_transition_entry", "entry_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    entry_id: str = Field(sa_column=_entry_id())
    step: int
    epoch: int | None = None
    from_state: str | None = None
    to_state: str
    reason: str | None = None
    mean: float | None = None  # the entry's last mean at that moment


class Request(_Table, table=True):
    """Variants are wanted of an entry; done once its outcome was staged."""

    __tablename__ = "rods_request"
    __table_args__ = (
        sa.UniqueConstraint("entry_id", "step", name="rods_request_once"),
        sa.Index("rods_request_queue", "done_step", "step", "id"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    entry_id: str = Field(sa_column=_entry_id())
    step: int
    done_step: int | None = None
    owner: str | None = None
    lease_until: float | None = None  # Unix time, s
    seconds: float = 0.0  # that the synthesis took, rejected attempts included


class RejectionCount(_Table, table=True):
    """Attempts of one request that failed in one way, with the first details."""

    __tablename__ = "rods_rejection"
    __table_args__ = (
        sa.Index("rods_rejection_reason", "stage", "reason"),
        sa.Index("rods_rejection_step", "step"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    seed_id: str = Field(sa_type=TEXT)
    request_step: int
    step: int
    stage: str = Field(sa_type=TEXT)
    reason: str = Field(sa_type=TEXT)
    count: int
    details: str = Field(sa_type=sa.Text)  # JSON list


class Usage(_Table, table=True):
    """What answering one request cost, by stage and backbone. A rewind keeps it: it was paid."""

    __tablename__ = "rods_usage"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: int | None = Field(default=None, primary_key=True)
    step: int
    stage: str = Field(sa_type=TEXT)
    model: str = Field(sa_type=TEXT)
    calls: int
    tokens_in: int = Field(sa_type=sa.BigInteger)
    tokens_out: int = Field(sa_type=sa.BigInteger)
    seconds: float
    price: float


class Plan(_Table, table=True):
    """What an epoch trains on."""

    __tablename__ = "rods_plan"

    epoch: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    step: int = Field(index=True)
    plan: str = Field(sa_type=sa.Text)


class Clock(_Table, table=True):
    """The steps recorded so far; the largest is now."""

    __tablename__ = "rods_clock"

    step: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    epoch: int


class Writer(_Table, table=True):
    """One row that a writing transaction locks: writers of any server database take turns."""

    __tablename__ = "rods_writer"

    id: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})


metadata = _Table.metadata
entry = metadata.tables["rods_entry"]
payload = metadata.tables["rods_payload"]
provenance = metadata.tables["rods_provenance"]
observation = metadata.tables["rods_observation"]
transition = metadata.tables["rods_transition"]
request = metadata.tables["rods_request"]
rejection = metadata.tables["rods_rejection"]
usage = metadata.tables["rods_usage"]
plan = metadata.tables["rods_plan"]
clock = metadata.tables["rods_clock"]
writer = metadata.tables["rods_writer"]


def shuffle_key(entry_id: str) -> int:
    """An integer in [0, SHUFFLE_PRIME) that only the id decides."""
    return int.from_bytes(hashlib.sha256(entry_id.encode()).digest()[:8], "big") % SHUFFLE_PRIME
