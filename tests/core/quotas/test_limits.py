"""Which limit goes for whom, against Kafka's order of precedence."""

from itertools import product

from trivium.core.metadata_quotas import ClientQuotas, QuotaEntity
from trivium.core.quotas.limits import REMEMBERED_MAX, Budget, Limit, Limits
from trivium.messages.stored.metadata_access import ClientQuotaRecord, EntityData

ORDER: list[QuotaEntity] = [
    (("client-id", "app"), ("user", "ann")),
    (("client-id", None), ("user", "ann")),
    (("user", "ann"),),
    (("client-id", "app"), ("user", None)),
    (("client-id", None), ("user", None)),
    (("user", None),),
    (("client-id", "app"),),
    (("client-id", None),),
]
"""The most exact first, as Kafka's documentation lists them."""


def test_most_exact_limit_wins_whichever_there_are() -> None:
    for present in product((False, True), repeat=len(ORDER)):
        quotas = ClientQuotas(
            {
                entity: {"producer_byte_rate": float(rank)}
                for rank, entity in enumerate(ORDER)
                if present[rank]
            }
        )
        limit = Limits(quotas).of_client("ann", "app", Budget.PRODUCE)
        expected = next((float(rank) for rank, is_there in enumerate(present) if is_there), None)
        assert (None if limit is None else limit.per_second) == expected
        assert Limits(quotas).of_client("ann", "app", Budget.FETCH) is None


def test_default_is_an_account_for_each_and_a_user_one_for_all_its_clients() -> None:
    by_default = Limits(ClientQuotas({(("user", None),): {"producer_byte_rate": 1.0}}))
    ann, bob = (by_default.of_client(user, "app", Budget.PRODUCE) for user in ("ann", "bob"))
    assert ann == Limit(1.0, (("user", "ann"),))
    assert bob == Limit(1.0, (("user", "bob"),))
    assert by_default.of_client("ann", "other", Budget.PRODUCE) == ann


def test_limit_of_an_address_is_its_own_or_the_default() -> None:
    limits = Limits(
        ClientQuotas(
            {
                (("ip", "10.0.0.1"),): {"connection_creation_rate": 5.0},
                (("ip", None),): {"connection_creation_rate": 2.0},
            }
        )
    )
    assert limits.of_address("10.0.0.1") == Limit(5.0, (("ip", "10.0.0.1"),))
    assert limits.of_address("10.0.0.2") == Limit(2.0, (("ip", "10.0.0.2"),))
    assert Limits(ClientQuotas()).of_address("10.0.0.1") is None


def test_change_counts_at_once_and_inventive_clients_fill_no_memory() -> None:
    quotas = ClientQuotas()
    limits = Limits(quotas)
    assert limits.of_client("ann", "app", Budget.FETCH) is None
    entity = [EntityData(entity_type="user", entity_name="ann")]
    quotas.set(ClientQuotaRecord(entity=entity, key="consumer_byte_rate", value=7.0, remove=False))
    assert limits.of_client("ann", "app", Budget.FETCH) == Limit(7.0, (("user", "ann"),))
    for number in range(REMEMBERED_MAX + 10):
        limits.of_client("ann", str(number), Budget.FETCH)
    assert len(limits._known) <= REMEMBERED_MAX
