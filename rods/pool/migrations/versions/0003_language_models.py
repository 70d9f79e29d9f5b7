"""Keep what language models were asked and cost, and which of them worded a task."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Older tasks were made without a language model."""
    models = sa.Column("models", sa.Text(), nullable=False, server_default="[]")
    op.add_column("rods_provenance", models)
    text = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    op.create_table(
        "rods_usage",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("stage", text, nullable=False),
        sa.Column("model", text, nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.BigInteger(), nullable=False),
        sa.Column("tokens_out", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("price", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
