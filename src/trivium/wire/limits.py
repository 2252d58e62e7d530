"""Every limit on bytes from outside, in one place, each with its unit and where it comes from."""

FRAME_BYTES_MAX = 104_857_600
"""A Kafka request frame: ``socket.request.max.bytes`` of Kafka, 100 MiB."""

FRAME_BYTES_MAX_BEFORE_LOGIN = 65_536
"""A frame of a peer that has not said who it is (promise S3)."""

FRAME_ROOM_BYTES_MAX = 8_388_608
"""A frame that memory is taken for before it has come: four of the fetches that Spark's workers ask for."""

RUSTLOG_FRAME_BYTES_MAX = 10_485_760
"""A RustLog frame, by its own document (mission 004.2)."""

DECOMPRESSED_BYTES_MAX = 104_857_600
"""One batch after decompression. A batch that was accepted compressed may not unfold further (S4)."""

BATCH_BYTES_MAX = 104_857_600
"""One record batch on disk: a length field above it is damage, not data."""

RECORD_HEADERS_MAX = 100_000
"""Headers of one record: each costs at least two bytes on the wire and an object in memory."""

MESSAGE_ELEMENTS_MAX = 1_000_000
"""Array elements and unknown tags of one message, all arrays together (S1). A byte or two on the wire become
an object of a hundred: without this, one frame of 100 MiB of zeros would take gigabytes."""

TEXT_BYTES_MAX = 32_767
"""One text of a Kafka request, in every version as in those whose lengths have no room for more: Kafka takes
none that is longer. Ids are hashed, kept, and written with such lengths again."""

TAGGED_FIELDS_MAX = 1_000
"""Tagged fields of one section: Kafka's largest has about ten, each costs two bytes and an object."""

ZSTD_WINDOW_BYTES_MAX = 33_554_432
"""What zstd asks for up to level 20. Larger windows cost that memory before the first byte (S4)."""

XERIAL_SMALL_BLOCKS_MAX = 1_024
"""Small blocks of one snappy stream: xerial fills blocks of 1 KiB at least, and ends some early; a stream of
nothing but small ones only burns time."""

IGGY_PAYLOAD_BYTES_MAX = 64_000_000
"""The payload of one Iggy message, by Iggy's own servers since 0.6."""

IGGY_USER_HEADERS_BYTES_MAX = 100_000
"""All user headers of one Iggy message, by Iggy's own servers."""

IGGY_HEADER_FIELD_BYTES_MAX = 255
"""A key or a value of an Iggy user header: clients take no message's headers where one is longer."""
