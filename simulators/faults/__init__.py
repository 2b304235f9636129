"""Faults that hardware and neighbours have, made to happen on purpose."""
