"""The arguments of a launch: signatures, the checks against them, and the calling convention."""
