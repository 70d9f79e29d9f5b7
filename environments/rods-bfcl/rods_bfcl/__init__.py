"""Entry point of the plugin; its classes are imported when a hook asks for them."""
