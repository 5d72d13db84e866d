"""`xtile lsp`: kernels in an editor (docs/editors.md)."""
