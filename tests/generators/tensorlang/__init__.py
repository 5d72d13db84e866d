"""The parts of the random kernel generator, one module for each family of instructions."""
