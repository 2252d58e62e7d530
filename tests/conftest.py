"""What goes for every test: a property is never judged by how fast the machine is at this moment."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
