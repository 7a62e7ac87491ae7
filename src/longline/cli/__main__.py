"""`python -m longline.cli` is the program, for whoever has no script of that name on the path."""

from longline.cli.main import main

main()
