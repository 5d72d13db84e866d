"""What the package knows of each vendor's hardware and tools."""
