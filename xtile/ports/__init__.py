"""`xtile port`: a kernel in every language that is asked for, checked, with a report.

See docs/porting.md.
"""
