"""Ends of runs: judgement, and the effects that follow."""
