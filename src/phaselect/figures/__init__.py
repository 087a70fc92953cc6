"""The figures: one file each, a table and how to draw it."""
