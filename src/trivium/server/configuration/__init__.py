"""Where a node's settings come from: defaults < file < environment < flags. The entry is ``loading.load``."""
