"""Compiled data structures of the event loops: sets of bits, lists of events, searches of servers."""
