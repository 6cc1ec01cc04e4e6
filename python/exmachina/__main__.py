"""`python -m exmachina` is the command line."""

from exmachina.command.cli import main

if __name__ == "__main__":
    main()
