"""Runs the migrations on the connection that ``rods.pool.schema`` hands over."""

from alembic import context

from rods.pool import tables
from rods.pool.schema import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=tables.metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite cannot alter a column in place
    include_name=lambda name, kind, _: kind != "table" or str(name).startswith("rods_"),
)
with context.begin_transaction():
    context.run_migrations()
