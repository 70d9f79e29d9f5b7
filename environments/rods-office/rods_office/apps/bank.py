"""The bank: accounts of people."""

from __future__ import annotations

from rods_office.apps.tooling import AccountId, Amount, App, Person, State
from rods_office.state import get

APP = App("bank")


@APP.tool("read")
def find_account(state: State, owner: Person) -> AccountId:
    """Gives the id of the account of a person."""
    return str(get(state, "accounts", "owner", owner)["id"])


@APP.tool("read")
def account_balance(state: State, account: AccountId) -> str:
    """Gives the money on an account."""
    return str(get(state, "accounts", "id", account)["balance"])


@APP.tool("write")
def pay_account(state: State, account: AccountId, amount: Amount) -> str:
    """Pays money to an account."""
    record = get(state, "accounts", "id", account)
    record["balance"] = int(record["balance"]) + amount
    return "ok"


@APP.tool("write", held_out=True)
def close_account(state: State, account: AccountId) -> str:
    """Closes an account for good."""
    state["accounts"].remove(get(state, "accounts", "id", account))
    return "ok"
