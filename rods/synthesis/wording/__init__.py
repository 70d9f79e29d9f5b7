"""The user's words for an executed plan: without a language model, and what any must do."""
