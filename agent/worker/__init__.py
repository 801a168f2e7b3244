"""The worker: runs due actions while nobody watches, on DBOS Transact, which nothing else imports.

`database` is where its queue lies, `heartbeat` tells the workers that are gone, `engine` runs what is in the queue, each
run once.
"""
