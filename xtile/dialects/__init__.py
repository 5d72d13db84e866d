"""The dialects of xtile. Import the one you need; importing this package loads none."""
