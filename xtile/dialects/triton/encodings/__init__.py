"""The layouts of `ttg`: which register of which lane, or which byte of local memory, holds what."""
