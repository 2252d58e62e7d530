"""DescribeClientQuotas (key 48): list quotas of users, clients and addresses.

0   first version
1   flexible
"""

from trivium.messages.schema import Request, Response, Struct
from trivium.messages.types import Bool, Float64, Int8, Int16, Int32, String


class ComponentData(Struct):
    entity_type: String
    match_type: Int8
    match: String | None


class DescribeClientQuotasRequest(Request, key=48, versions="0-1", flexible="1+"):
    components: list[ComponentData]
    strict: Bool


class EntityData(Struct):
    entity_type: String
    entity_name: String | None


class ValueData(Struct):
    key: String
    value: Float64


class EntryData(Struct):
    entity: list[EntityData]
    values: list[ValueData]


class DescribeClientQuotasResponse(Response, key=48, versions="0-1", flexible="1+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None
    entries: list[EntryData] | None
