"""A run as series and as one page of figures, from its folder alone."""
