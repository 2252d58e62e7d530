"""Values of records that Spark cannot read without a jar: Avro and Protobuf, decoded by Python into Arrow.

A decoder takes the bytes of one value and gives a dict of its columns; ``batches`` runs it over columns of
Arrow. What cannot be read is a reason and never an exception.
"""
