"""`phaselect`, and `python -m phaselect`."""

from phaselect.cli.interrupts import watch


def main() -> None:
    """The program; signals first: to load the rest takes a moment."""
    watch()
    from phaselect.cli.main import main as program

    program()


if __name__ == "__main__":
    main()
