"""Language models for the synthesis: which, where, at what price. No import here loads dspy."""
