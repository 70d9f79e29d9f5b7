"""The shop: items with a price, and orders of them."""

from __future__ import annotations

from rods_office.apps.tooling import App, Count, ItemId, OrderId, State, Thing
from rods_office.state import fresh_id, get

APP = App("shop")


@APP.tool("read")
def find_item(state: State, name: Thing) -> ItemId:
    """Gives the id of the item with this name."""
    return str(get(state, "items", "name", name)["id"])


@APP.tool("read")
def item_price(state: State, item: ItemId) -> str:
    """Gives the price of an item."""
    return str(get(state, "items", "id", item)["price"])


@APP.tool("write")
def buy_item(state: State, item: ItemId, count: Count) -> OrderId:
    """Orders pieces of an item and gives the id of the order."""
    get(state, "items", "id", item)
    order = fresh_id(state, "o")
    state["orders"].append({"id": order, "item": item, "count": count})
    return order


@APP.tool("read")
def find_order(state: State, item: ItemId) -> OrderId:
    """Gives the id of the order of an item."""
    return str(get(state, "orders", "item", item)["id"])


@APP.tool("write")
def cancel_order(state: State, order: OrderId) -> str:
    """Cancels an order."""
    state["orders"].remove(get(state, "orders", "id", order))
    return "ok"


@APP.tool("read")
def list_items(state: State) -> str:
    """Lists the items: id, name and price."""
    return "; ".join(f"{r['id']} {r['name']} {r['price']}" for r in state["items"]) or "none"


@APP.tool("read")
def list_orders(state: State) -> str:
    """Lists the orders: id, name of the item and count."""
    names = {r["id"]: r["name"] for r in state["items"]}
    lines = (f"{r['id']} {names.get(r['item'], '?')} {r['count']}" for r in state["orders"])
    return "; ".join(lines) or "none"


@APP.tool("write", held_out=True)
def change_order(state: State, order: OrderId, count: Count) -> str:
    """Changes how many pieces an order has."""
    get(state, "orders", "id", order)["count"] = count
    return "ok"
