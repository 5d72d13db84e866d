"""The dialect's operations, one module for each family."""
