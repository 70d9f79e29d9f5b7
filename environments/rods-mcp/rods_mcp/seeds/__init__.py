"""Tasks made by exploring a server's tools, for servers that come without a file of tasks."""
