"""Linear algebra on a CPU: one work-item does it for its work-group, with whole vectors.

The work-items of a work-group take turns on one core, so several of them are not faster than one.
A vector of one dimension is the work-item's own. What becomes of what stands in
docs/core-form-levels.md, "Distribution".
"""
