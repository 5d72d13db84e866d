"""What the lowerings of tiles share: memory by pointers and numbers, loops, shapes, products."""
