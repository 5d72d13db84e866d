"""What every reader and printer shares: sources, diagnostics, and the MLIR text."""
