"""``kafka.security.protocol`` and its company, read as ``Security``; and a broker that wants it."""

import pickle
from collections.abc import Iterator

import pytest

from tests.clients.certificates import Certified, certified
from trivium.client.security import PLAINTEXT, Security
from trivium.spark.connector.broker_origin import BrokerOrigin
from trivium.spark.connector.kafka_options import parse_kafka_options
from trivium.spark.connector.security import options_of, security_of
from trivium.testing.broker import Broker

JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="ann" password="a \\" b";'


def test_options_become_security() -> None:
    assert security_of({}) == security_of({"kafka.security.protocol": "plaintext"}) == PLAINTEXT
    found = security_of(
        {
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": "scram-sha-512",
            "kafka.sasl.jaas.config": JAAS,
            "kafka.ssl.truststore.location": "/ca.pem",
            "kafka.ssl.truststore.type": "PEM",
            "kafka.ssl.endpoint.identification.algorithm": "",
        }
    )
    assert found == Security(
        has_tls=True,
        ca="/ca.pem",
        checks_host=False,
        username="ann",
        password='a " b',
        mechanism="SCRAM-SHA-512",
    )
    assert 'a " b' not in repr(found), "S15"


@pytest.mark.parametrize(
    "security",
    [
        PLAINTEXT,
        Security(has_tls=True),
        Security(has_tls=True, ca="/ca.pem", certificate="/me.pem", checks_host=False),
        Security(username="ann", password='a "b\\c'),
        Security(has_tls=True, ca="/ca.pem", username="ann", password="", mechanism="PLAIN"),
    ],
)
def test_security_becomes_options_and_the_same_again(security: Security) -> None:
    assert security_of(options_of(security)) == security


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certified]:
    with certified() as made:
        yield made


def test_reader_logs_in_also_in_another_process(certificates: Certified) -> None:
    settings = certificates.settings | {
        "listen.kafka": "SASL_SSL://127.0.0.1:0",
        "iggy.root.username": "ann",
        "iggy.root.password": "secret",
    }
    with Broker(settings=settings) as broker:
        kafka = parse_kafka_options(
            {
                "kafka.bootstrap.servers": broker.bootstrap,
                "kafka.security.protocol": "SASL_SSL",
                "kafka.sasl.mechanism": "SCRAM-SHA-256",
                "kafka.sasl.jaas.config": 'x required username="ann" password="secret";',
                "kafka.ssl.truststore.location": str(certificates.ca),
                "kafka.ssl.truststore.type": "PEM",
            }
        )
        for _ in range(2):  # and once more, after it has been handed on
            origin = BrokerOrigin(kafka)
            assert origin.topic_names() == []
            origin.close()
            kafka = pickle.loads(pickle.dumps(kafka))
