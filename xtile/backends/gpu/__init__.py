"""Launches on the GPUs of every vendor: memory, parameters, streams, loaded kernels."""
