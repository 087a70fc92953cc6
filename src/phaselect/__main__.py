"""`python -m phaselect`."""

from phaselect.cli import main

if __name__ == "__main__":
    main()
