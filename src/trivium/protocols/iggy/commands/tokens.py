"""Personal access tokens: GET_, CREATE_, DELETE_, LOGIN_WITH_PERSONAL_ACCESS_TOKEN."""

from typing import Final

from trivium.core.commands.users import NEVER_US, CreateToken, DeleteToken, ListTokens, LogInWithToken
from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.commands.users import become
from trivium.protocols.iggy.exchange import Call, Exchange, ask, carry_out
from trivium.protocols.iggy.layout import U64, text

_NEVER: Final = (1 << 64) - 1
"""A lifetime that has no end; so has 0, the server's default."""


def get_tokens(_body: Body, call: Call) -> Exchange:
    listed = yield from ask(ListTokens())
    call.require(listed.fault)
    return b"".join(text(each.name) + U64.pack(each.expires_at_us) for each in listed.tokens)


def create_token(body: Body, call: Call) -> Exchange:
    name, lifetime_us = body.name(), body.u64()
    created = yield from ask(CreateToken(name, NEVER_US if lifetime_us == _NEVER else lifetime_us))
    call.require(created.fault)
    return text(created.token)


def delete_token(body: Body, call: Call) -> Exchange:
    return (yield from carry_out(DeleteToken(body.name()), call))


def login_with_token(body: Body, call: Call) -> Exchange:
    token = body.name()
    return become((yield from ask(LogInWithToken(token))), call)
