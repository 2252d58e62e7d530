"""``format("trivium")`` as Spark sees it. Spark imports this in every process that looks for data sources,
so what reading needs is imported when it is asked for."""

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from trivium.spark.connector.batch_reader import BatchReader
    from trivium.spark.connector.stream_reader import StreamReader
    from trivium.spark.connector.topic_writer import TopicBatchWriter, TopicStreamWriter


class TriviumDataSource(DataSource):
    """Topics of a broker, or of a log directory, as rows; and rows as records of topics."""

    @classmethod
    def name(cls) -> str:
        return "trivium"

    def schema(self) -> str:
        from trivium.spark.connector.options import wants_headers
        from trivium.spark.connector.rows import schema_text

        return schema_text(include_headers=wants_headers(self.options))

    def reader(self, schema: "StructType") -> "BatchReader":
        from trivium.spark.connector.batch_reader import BatchReader
        from trivium.spark.connector.options import parse_options
        from trivium.spark.connector.rows import check_schema

        return BatchReader(parse_options(self.options, is_stream=False), check_schema(schema))

    def streamReader(self, schema: "StructType") -> "StreamReader":  # noqa: N802 - Spark's name
        from trivium.spark.connector.options import parse_options
        from trivium.spark.connector.rows import check_schema
        from trivium.spark.connector.stream_reader import StreamReader

        return StreamReader(parse_options(self.options, is_stream=True), check_schema(schema))

    def writer(self, schema: "StructType", overwrite: bool) -> "TopicBatchWriter":
        from trivium.spark.connector.errors import BadOption
        from trivium.spark.connector.sent_columns import check_columns
        from trivium.spark.connector.topic_writer import TopicBatchWriter, reach
        from trivium.spark.connector.write_options import parse_write_options

        if overwrite:
            raise BadOption('A topic is only appended to; write with mode("append").')
        options = parse_write_options(self.options, is_stream=False)
        check_columns(schema, options.topic)
        reach(options)
        return TopicBatchWriter(options)

    def streamWriter(self, schema: "StructType", overwrite: bool) -> "TopicStreamWriter":  # noqa: N802
        from trivium.spark.connector.errors import BadOption
        from trivium.spark.connector.sent_columns import check_columns
        from trivium.spark.connector.topic_writer import TopicStreamWriter
        from trivium.spark.connector.worker_process import settle
        from trivium.spark.connector.write_options import parse_write_options

        if overwrite:
            raise BadOption('A topic is only appended to; use outputMode("append").')
        options = parse_write_options(self.options, is_stream=True)
        check_columns(schema, options.topic)
        settle()  # Asked anew for each micro-batch.
        return TopicStreamWriter(options)
