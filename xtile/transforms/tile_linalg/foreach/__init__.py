"""Loops over the points of a space become loops over tiles of points."""
