"""How office users ask for a call, in the words of the office's own tasks."""

from __future__ import annotations

from collections.abc import Mapping

from rods.types import Phrase


def _ways(*says: str, **nouns: str) -> Phrase:
    return Phrase(says=says, nouns={"*" if name == "any" else name: n for name, n in nouns.items()})


PHRASES: Mapping[str, Phrase] = {
    "read_file": _ways(
        "read file {name}", "open file {name}", "what is in file {name}",
        name="who is in file {name}", any="what is in file {name}",
    ),
    "write_file": _ways(
        "write {text} to file {name}", "save {text} in file {name}",
        "put {text} into new file {name}",
    ),
    "delete_file": _ways("delete file {name}", "remove file {name}", "erase file {name}"),
    "rename_file": _ways("rename file {name} to {new_name}", "call file {name} now {new_name}"),
    "list_files": _ways("look at all files", "list files"),
    "find_phone": _ways(
        "what is phone of {name}", "show phone of {name}", phone="{name}", any="phone of {name}"
    ),
    "add_contact": _ways(
        "add contact {name} phone {phone}", "new contact {name} with phone {phone}",
        "save phone {phone} for {name}",
    ),
    "delete_contact": _ways(
        "delete contact {name}", "remove contact {name}", "erase contact {name}"
    ),
    "set_phone": _ways("change phone of {name} to {phone}", "{name} has new phone {phone}"),
    "list_contacts": _ways("look at all contacts", "list contacts"),
    "send_text": _ways("send {text} to {phone}", "text {text} to {phone}", "tell {phone} {text}"),
    "read_inbox": _ways(
        "read message from {phone}", "show what {phone} said", "what did {phone} write",
        text="what {phone} did write", any="what {phone} did write",
    ),
    "find_event": _ways("what is event {title}", "show event {title}", any="event {title}"),
    "add_event": _ways(
        "add event {title} on day {day}", "put {title} on day {day}", "plan {title} for day {day}"
    ),
    "move_event": _ways("move {event} to day {day}", "shift {event} to day {day}"),
    "cancel_event": _ways("cancel {event}", "drop {event}", "delete {event}"),
    "event_day": _ways(
        "when is {event}", "what day is {event}", day="of {event}", any="day of {event}"
    ),
    "list_events": _ways("look at all events", "list events"),
    "find_item": _ways("what is item {name}", "show item {name}", any="item {name}"),
    "item_price": _ways(
        "price of {item}", "how much is {item}", "what does {item} cost", any="price of {item}"
    ),
    "buy_item": _ways("buy {count} of {item}", "order {count} of {item}"),
    "find_order": _ways("show order of {item}", "what is order of {item}", any="order of {item}"),
    "cancel_order": _ways("cancel {order}", "drop {order}"),
    "list_items": _ways("look at all items", "list items"),
    "list_orders": _ways("look at all orders", "list orders"),
    "find_account": _ways("show pay of {owner}", any="pay of {owner}", account="{owner}"),
    "account_balance": _ways(
        "how much money has {account}", "show balance of {account}", any="balance of {account}"
    ),
    "pay_account": _ways("pay {amount} to {account}", "give {account} {amount} money"),
    "append_file": _ways("append {text} to file {name}", "add {text} at the end of file {name}"),
    "clear_inbox": _ways("clear inbox of {phone}", "delete message from {phone}"),
    "rename_event": _ways("rename {event} to {title}", "call {event} now {title}"),
    "change_order": _ways("change {order} to {count}", "set {order} to {count} pieces"),
    "close_account": _ways("close account of {account}", "close bank account of {account}"),
}  # fmt: skip
"""Tool -> its phrases. "{account}" is an owner where the account was looked up in the same turn."""
