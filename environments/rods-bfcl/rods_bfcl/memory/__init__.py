"""BFCL V4's memory tasks: conversations fill a memory, then questions are answered from it."""
