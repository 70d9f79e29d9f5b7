"""Alembic's migrations of the pool, run when a pool is opened."""
