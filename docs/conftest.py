"""The pages written by hand are tested as doctests; those that are generated, and the code that makes them, are not."""

collect_ignore = ["conf.py", "generate"]
collect_ignore_glob = [
    "_build/*",
    "_generated/*",
    "gallery/*",
    "atlas/*/*",
    "reference/api/*",
    "explanation/*",
    "tutorials/*",
]
