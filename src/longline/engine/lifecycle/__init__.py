"""Every change of a state, with its event."""
