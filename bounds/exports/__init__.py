"""What certificates state, in the formats of other people's tools, for users who do not trust packproof's checker.

`document` reads certificates, `programs` has their linear programs, and each other file a format or a family of
formats.
"""

from theory.doors import doors

__getattr__, __all__ = doors(__name__, {"kinds": ("FORMATS",), "formats": ("export",), "document": ("Exported",)})
