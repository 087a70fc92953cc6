"""How fast everything is, against others and against what the machine allows: `make bench`, `make bench DEVICE=gpu`."""
