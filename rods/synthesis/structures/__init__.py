"""The five stages for plans of other functions in a seed's structure."""
