"""Kills, shortages and false answers; afterwards the logs of servers and the rows of the database are checked."""
