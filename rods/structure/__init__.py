"""What makes two tasks alike, without a language model: execution, sources, profile, distance."""
