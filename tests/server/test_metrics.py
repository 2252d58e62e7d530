"""What is counted, and what it costs."""

from trivium.messages.api import ApiKey
from trivium.messages.api.api_versions import ApiVersionsResponse
from trivium.messages.api.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.error_codes import error_codes
from trivium.server.metrics import SECONDS, Durations, RequestMeter


def answer(*codes: int) -> ProduceResponse:
    parts = [
        PartitionProduceResponse(index=index, error_code=code, base_offset=0)
        for index, code in enumerate(codes)
    ]
    return ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=parts)])


def test_error_codes_of_nested_parts_are_all_found() -> None:
    assert error_codes(answer(0, 3, 0, 10, 3)) == [3, 10, 3]
    assert error_codes(answer(0)) == []
    assert error_codes(ApiVersionsResponse(error_code=35, api_keys=[])) == [35]


def test_durations_of_different_sizes_are_counted_by_their_class() -> None:
    durations = Durations()
    for seconds in (0.0, SECONDS[0], SECONDS[0] * 1.01, 3600.0):
        durations.add(seconds)
    buckets = dict(durations.buckets)
    assert buckets[str(SECONDS[0])] == 2
    assert buckets[str(SECONDS[1])] == 3
    assert buckets[str(SECONDS[-1])] == 3
    assert buckets["+Inf"] == 4
    assert durations.count == 4


def test_meter_counts_requests_and_errors_by_api() -> None:
    meter = RequestMeter()
    meter.end(ApiKey.PRODUCE, meter.begin(), answer(ErrorCode.NONE))
    meter.end(ApiKey.PRODUCE, meter.begin(), answer(ErrorCode.CORRUPT_MESSAGE, ErrorCode.CORRUPT_MESSAGE))
    meter.end(ApiKey.FETCH, meter.begin(), None)
    assert {key: durations.count for key, durations in meter.durations.items()} == {0: 2, 1: 1}
    assert meter.errors == {(0, 2): 2}
