"""Who may come in: users, their passwords and tokens, and what each of them may do.

    permissions   the tree of rights that a user carries, and the one function that decides by it
    user          a user as plain state
    directory     all users and tokens, found by number, by name, by the hash of a token
    accounts      making, changing and removing users
    logging_in    proving who one is, by password or by token
    tokens        personal access tokens
    founding      the first user of a node

Passwords are hashed behind a port (``ports.Passwords``): it takes long, and it takes equally long for users
that do not exist.
"""
