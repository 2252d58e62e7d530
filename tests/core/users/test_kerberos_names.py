"""Who a Kerberos principal is, by Kafka's rules (mission 003.20)."""

import pytest

from trivium.core.users.kerberos_names import BadRules, LocalNames

REALM = "EXAMPLE.COM"


@pytest.mark.parametrize(
    ("rules", "principal", "name"),
    [
        (["DEFAULT"], "ann@EXAMPLE.COM", "ann"),
        (["DEFAULT"], "ann/host.example.com@EXAMPLE.COM", "ann"),
        (["DEFAULT"], "ann@OTHER.COM", None),
        ([], "ann@EXAMPLE.COM", "ann"),
        (["RULE:[1:$1]"], "ann@OTHER.COM", "ann"),
        (["RULE:[1:$1]"], "ann/host@EXAMPLE.COM", None),
        (["RULE:[2:$1.$2]"], "ann/host@EXAMPLE.COM", "ann.host"),
        (["RULE:[1:$1-$0]L"], "Ann@EXAMPLE.COM", "ann-example.com"),
        (["RULE:[1:$1]/U"], "ann@EXAMPLE.COM", "ANN"),
        ([r"RULE:[1:$1@$0](.*@OTHER\.COM)s/@.*//"], "ann@OTHER.COM", "ann"),
        ([r"RULE:[1:$1@$0](.*@OTHER\.COM)s/@.*//"], "ann@OTHER.COM.EVIL", None),
        ([r"RULE:[1:$1@$0](.*@OTHER\.COM)s/@.*//", "DEFAULT"], "ann@EXAMPLE.COM", "ann"),
        ([r"RULE:[2:$1](a)s/a/b/", "DEFAULT"], "a/host@EXAMPLE.COM", "b"),
        (["RULE:[1:$1](nan)s/n/m/"], "nan@EXAMPLE.COM", "man"),
        (["RULE:[1:$1](nan)s/n/m/g"], "nan@EXAMPLE.COM", "mam"),
        (["RULE:[1:$1](a.+)s/a(.)(.*)/$2$1/"], "abc@EXAMPLE.COM", "cb"),
        (["RULE:[1:$1](ann)s/ann//"], "ann@EXAMPLE.COM", None),
        (["RULE:[1:$1@$0]", "DEFAULT"], "ann@EXAMPLE.COM", None),
        (["RULE:[2:$1/$2]", "DEFAULT"], "ann/host@EXAMPLE.COM", None),
    ],
)
def test_first_rule_that_fits_the_principal_counts(
    rules: list[str], principal: str, name: str | None
) -> None:
    assert LocalNames.parse(rules, REALM).name_of(principal) == name


@pytest.mark.parametrize(
    "principal",
    [
        "",
        "ann",
        "@EXAMPLE.COM",
        "ann@",
        "ann@EXAMPLE.COM@EXAMPLE.COM",
        "/host@EXAMPLE.COM",
        "ann/@EXAMPLE.COM",
        "ann/a/b@EXAMPLE.COM",
        r"ann\/host@EXAMPLE.COM",
        r"root\@EXAMPLE.COM",
        "WELLKNOWN/ANONYMOUS@WELLKNOWN:ANONYMOUS",
    ],
)
def test_principal_that_could_be_taken_for_another_is_nobody(principal: str) -> None:
    """S8: the KDC's anonymous among them."""
    assert LocalNames.parse(["DEFAULT"], REALM).name_of(principal) is None


@pytest.mark.parametrize(
    "rule",
    [
        "default",
        "RULE:",
        "RULE:[1:$1",
        "RULE:[:$1]",
        "RULE:[0:$0]",
        "RULE:[3:$1]",
        "RULE:[1:$2]",
        "RULE:[1:$1]((x)",
        "RULE:[1:$1](a)s/a/$1/",
        "RULE:[1:$1]s/a/",
        "RULE:[1:$1]X",
    ],
)
def test_rules_that_cannot_be_read_are_refused(rule: str) -> None:
    with pytest.raises(BadRules):
        LocalNames.parse([rule])
