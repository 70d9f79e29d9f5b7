"""Variants of tasks: plan, execute, rewrite, critique, augment; one stage a file."""
