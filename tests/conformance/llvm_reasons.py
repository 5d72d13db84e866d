"""Why verdicts on LLVM 22.1.8's test files differ, by file and number of the piece from 1."""

REASONS: dict[tuple[str, int], str] = {}
