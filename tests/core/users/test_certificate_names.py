"""Who a certificate stands for, by Kafka's rules (mission 003.21)."""

import pytest

from trivium.core.users.certificate_names import BadRules, PrincipalRules, subject_name

SUBJECT = (
    (("countryName", "US"),),
    (("organizationName", "Shop, Inc."),),
    (("organizationalUnitName", "ServiceUsers"),),
    (("commonName", "Orders"),),
)
NAME = r"CN=Orders,OU=ServiceUsers,O=Shop\, Inc.,C=US"


def test_subject_is_written_nearest_part_first() -> None:
    assert subject_name(SUBJECT) == NAME
    assert subject_name([[("commonName", "a"), ("userId", "#b ")]]) == r"CN=a+UID=\#b\ "


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        ("DEFAULT", NAME),
        ("", NAME),
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/", "Orders"),
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L", "orders"),
        ("RULE:^CN=(.*?),OU=(.*?),.*$/$1@$2/U, DEFAULT", "ORDERS@SERVICEUSERS"),
        ("RULE:^CN=(.*?),OU=Admins.*$/$1/L,RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L,DEFAULT", "orders"),
        ("RULE:^CN=Nobody$/x/,DEFAULT", NAME),
        ("RULE:^CN=Nobody$/x/", None),
        ("RULE:CN=/x/", None),
    ],
)
def test_first_rule_that_fits_the_whole_subject_counts(rules: str, name: str | None) -> None:
    assert PrincipalRules.parse(rules).name_of(NAME) == name


@pytest.mark.parametrize("rules", ["RULE:x", "RULE:(/y/", "RULE:a/$1/", "default", "DEFAULT;DEFAULT"])
def test_rules_that_cannot_be_read_are_refused(rules: str) -> None:
    with pytest.raises(BadRules):
        PrincipalRules.parse(rules)
