"""What rods itself registers, through the same hooks as any plugin."""
