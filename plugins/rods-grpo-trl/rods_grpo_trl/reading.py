"""What a folder that is damaged makes the libraries raise."""

from __future__ import annotations

from safetensors import SafetensorError

UNREADABLE = (OSError, ValueError, LookupError, TypeError, SafetensorError)
