"""How tasks are made: skills, structures of skills, worlds that fit, and the four kinds."""
