"""The HTTP API of the bot-pull contract: bots pull and submit jobs, and admins manage them."""
