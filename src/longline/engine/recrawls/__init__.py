"""Loops of recrawls: their next generations, children that wait for parents, and holds with an end."""
