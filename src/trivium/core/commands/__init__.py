"""What a broker can be asked to do, in its own words: the seam between protocols and engines.

A session turns bytes into one of these and a result into bytes; an engine carries them out. No session
reaches past them, so that another engine can stand behind the same doors. Commands are values, one module
per noun. Bytes in a command (records, metadata) are valid only while it is being executed: whoever wants
them later copies them.
"""
