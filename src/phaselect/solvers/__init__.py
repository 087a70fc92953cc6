"""The solvers: one protocol, one result, one driving loop."""
