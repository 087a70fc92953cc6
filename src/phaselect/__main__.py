"""`python -m phaselect`."""

from phaselect.cli.main import main

if __name__ == "__main__":
    main()
