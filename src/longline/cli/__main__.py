"""`python -m longline.cli` is the program, for installations without a `longline` script on the path."""

from longline.cli.main import main

main()
