"""Instance files that several tests write."""

TWO = """
[server]
capacity = { cpu = 12 }
[[type]]
name = "a"
demand = { cpu = 5 }
reward = 1
workload = 1
[[type]]
name = "b"
demand = { cpu = 7 }
reward = 1
workload = 1
"""
"""Two types that fill a server together."""

ONE = TWO.rpartition("[[type]]")[0]
"""The first of them alone."""
