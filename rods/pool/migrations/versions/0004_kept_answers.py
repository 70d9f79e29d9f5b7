"""Keep how a task was made: of which structure, and what of the language models was kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Of older tasks neither is known."""
    string = sa.Column("structure", sa.String(), nullable=False, server_default="")
    op.add_column("rods_provenance", string)
    for name, empty in (("stages", "{}"), ("tried", "[]")):
        column = sa.Column(name, sa.Text(), nullable=False, server_default=empty)
        op.add_column("rods_provenance", column)
