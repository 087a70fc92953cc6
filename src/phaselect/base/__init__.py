"""What every room may use: errors, files, tables, ranges, threads."""
