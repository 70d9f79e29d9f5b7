"""A policy small enough to learn on a CPU: its tokenizer, its sizes and its folder."""
