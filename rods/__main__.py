"""``python -m rods`` is the ``rods`` command."""

from rods.cli import main

main()
