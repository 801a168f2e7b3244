"""`python -m tui` is `persona`."""

from tui.cli import main

if __name__ == "__main__":
    main()
