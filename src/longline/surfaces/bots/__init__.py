"""The door of the bot-pull contract: bots pull and submit, and people look after them."""
