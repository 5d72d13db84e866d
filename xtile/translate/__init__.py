"""From one language to another: one module of rules for each direction (docs/architecture.md)."""
