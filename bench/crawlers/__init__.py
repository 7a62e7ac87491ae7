"""The contestants, one program each; `order.py` is all they share."""
