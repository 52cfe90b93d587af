"""What certificates state, in the formats of other people's tools, for users who do not trust packproof's checker."""

from theory.doors import doors

__getattr__, __all__ = doors(__name__, {"formats": ("FORMATS", "export"), "document": ("Exported",)})
