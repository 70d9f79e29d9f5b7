"""Keep when an entry was first on trial, and index what an epoch boundary asks for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Fill the new column from the log."""
    op.add_column("rods_entry", sa.Column("entered_step", sa.Integer(), nullable=True))
    op.execute(
        "UPDATE rods_entry SET entered_step = (SELECT MIN(step) FROM rods_transition "
        "WHERE rods_transition.entry_id = rods_entry.id AND to_state = 'trial')"
    )
    op.drop_index("rods_entry_state", "rods_entry")
    op.create_index("rods_entry_state", "rods_entry", ["state", "origin", "kind"])
    op.drop_index("rods_transition_epoch", "rods_transition")
    op.drop_index(
        "rods_transition_step", "rods_transition"
    )  # only a rewind, which is rare, read it
