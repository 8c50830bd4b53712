"""What a desk must stand, tried on this machine: kills, a full disk, a clock that jumps, and load.

Every trial has a desk of its own in a folder of its own; no desk that works is touched.
"""
