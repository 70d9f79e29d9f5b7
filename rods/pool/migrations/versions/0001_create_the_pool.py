"""Create the pool: entries, their logs, synthesis requests, plans and the clock."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Nothing is there before."""
    op.create_table(
        "rods_clock",
        sa.Column("step", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("step"),
    )
    op.create_table(
        "rods_entry",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("parent_id", sa.String(), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("distance", sa.Float(), nullable=False),
        sa.Column("created_step", sa.Integer(), nullable=False),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.Column("mean", sa.Float(), nullable=True),
        sa.Column("variance", sa.Float(), nullable=True),
        sa.Column("flat_visits", sa.Integer(), nullable=False),
        sa.Column("last_step", sa.Integer(), nullable=True),
        sa.Column("first_mean", sa.Float(), nullable=True),
        sa.Column("shuffle", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("rods_entry_order", "rods_entry", ["created_step", "id"])
    op.create_index("rods_entry_parent", "rods_entry", ["parent_id"])
    op.create_index("rods_entry_state", "rods_entry", ["state", "kind"])

    op.create_table(
        "rods_plan",
        sa.Column("epoch", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("epoch"),
    )
    op.create_index("ix_rods_plan_step", "rods_plan", ["step"])

    op.create_table(
        "rods_rejection",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("seed_id", TEXT, nullable=False),
        sa.Column("request_step", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("stage", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("rods_rejection_reason", "rods_rejection", ["stage", "reason"])
    op.create_index("rods_rejection_step", "rods_rejection", ["step"])

    op.create_table(
        "rods_writer",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "rods_observation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("entry_id", TEXT, nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("draw_seed", sa.BigInteger(), nullable=True),
        sa.Column("rewards", sa.Text(), nullable=False),
        sa.Column("mean", sa.Float(), nullable=True),
        sa.Column("variance", sa.Float(), nullable=True),
        sa.Column("policy_version", sa.Integer(), nullable=False),
        sa.Column("scored", sa.Boolean(), nullable=False),
        sa.Column("unscored", sa.Integer(), nullable=False),
        sa.Column("format_failures", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["entry_id"], ["rods_entry.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("rods_observation_entry", "rods_observation", ["entry_id", "step", "id"])
    op.create_index("rods_observation_step", "rods_observation", ["step"])

    op.create_table(
        "rods_payload",
        sa.Column("entry_id", TEXT, nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["entry_id"], ["rods_entry.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("entry_id"),
    )
    op.create_table(
        "rods_provenance",
        sa.Column("entry_id", TEXT, nullable=False),
        sa.Column("synthesizer", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("program", sa.String(), nullable=False),
        sa.Column("edit", sa.String(), nullable=False),
        sa.Column("substitutions", sa.Text(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["entry_id"], ["rods_entry.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("entry_id"),
    )
    op.create_table(
        "rods_request",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("entry_id", TEXT, nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("done_step", sa.Integer(), nullable=True),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["entry_id"], ["rods_entry.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("entry_id", "step", name="rods_request_once"),
        sqlite_autoincrement=True,
    )
    op.create_index("rods_request_queue", "rods_request", ["done_step", "step", "id"])

    op.create_table(
        "rods_transition",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("entry_id", TEXT, nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=True),
        sa.Column("from_state", sa.String(), nullable=True),
        sa.Column("to_state", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("mean", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["entry_id"], ["rods_entry.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("rods_transition_entry", "rods_transition", ["entry_id", "id"])
    op.create_index("rods_transition_epoch", "rods_transition", ["epoch"])
    op.create_index("rods_transition_step", "rods_transition", ["step"])

    op.execute("INSERT INTO rods_writer (id) VALUES (1)")
