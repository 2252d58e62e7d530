"""Peers that lie, pry and push: the S promises, whole matrices of them at a time.

``make test`` runs a slice of each; ``make abuse N=...`` the long form (``amount``). A failure prints its
seed, and ``make abuse SEED=...`` runs the same again.
"""
