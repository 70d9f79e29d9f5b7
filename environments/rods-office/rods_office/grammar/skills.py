"""The skills of the office, by group."""

from __future__ import annotations

from collections.abc import Mapping

from rods_office.grammar.skill import Group, Skill

_BASIC = (
    Skill(
        "write", "basic",
        ("write {word} to file {new_file}", "save {word} in file {new_file}",
         "put {word} into new file {new_file}"),
        ("write_file new_file word",),
        ("write to file {new_file}", "save {word} in a new file"),
    ),
    Skill(
        "delete", "basic",
        ("delete file {file}", "remove file {file}", "erase file {file}"),
        ("delete_file file",),
        ("delete a file",),
    ),
    Skill(
        "rename", "basic",
        ("rename file {file} to {new_file}", "call file {file} now {new_file}",
         "change name of file {file} to {new_file}"),
        ("rename_file file new_file",),
        ("rename file {file}",),
    ),
    Skill(
        "read", "basic",
        ("read file {file}", "open file {file}", "what is in file {file}"),
        ("read_file file",),
    ),
    Skill(
        "copy", "basic",
        ("copy file {file} to {new_file}", "duplicate file {file} as {new_file}"),
        ("read_file file", "write_file new_file $0"),
        ("copy file {file}",),
    ),
    Skill(
        "add-contact", "basic",
        ("add contact {new_person} phone {phone}", "new contact {new_person} with phone {phone}",
         "save phone {phone} for {new_person}"),
        ("add_contact new_person phone",),
        ("add contact {new_person}",),
    ),
    Skill(
        "delete-contact", "basic",
        ("delete contact {person}", "remove contact {person}", "erase contact {person}"),
        ("delete_contact person",),
        ("delete a contact",),
    ),
    Skill(
        "set-phone", "basic",
        ("change phone of {person} to {phone}", "{person} has new phone {phone}"),
        ("set_phone person phone",),
        ("change phone of {person}",),
    ),
    Skill(
        "text-phone", "basic",
        ("text phone {phone} {word}", "send phone {phone} text {word}"),
        ("send_text phone word",),
        ("text {word} to a phone", "send a text to phone {phone}"),
    ),
    Skill(
        "tell", "basic",
        ("tell {person} {word}", "text {word} to {person}", "let {person} know {word}"),
        ("find_phone person", "send_text $0 word"),
        ("send {person} a text",),
    ),
    Skill(
        "inbox", "basic",
        ("what did {person} write", "read message from {person}", "show what {person} said"),
        ("find_phone person", "read_inbox $0"),
    ),
    Skill(
        "save-phone", "basic",
        ("write phone of {person} to file {new_file}", "save phone of {person} in {new_file}"),
        ("find_phone person", "write_file new_file $0"),
    ),
    Skill(
        "add-event", "basic",
        ("add event {new_event} on day {day}", "put {new_event} on day {day}",
         "plan {new_event} for day {day}"),
        ("add_event new_event day",),
        ("add event {new_event}", "add an event on day {day}"),
    ),
    Skill(
        "move-event", "basic",
        ("move event {event} to day {day}", "shift {event} to day {day}",
         "put off {event} to day {day}"),
        ("find_event event", "move_event $0 day"),
        ("move event {event}",),
    ),
    Skill(
        "cancel-event", "basic",
        ("cancel event {event}", "drop event {event}", "delete event {event}"),
        ("find_event event", "cancel_event $0"),
        ("cancel an event",),
    ),
    Skill(
        "when", "basic",
        ("when is event {event}", "what day is {event}", "which day has event {event}"),
        ("find_event event", "event_day $0"),
    ),
    Skill(
        "plan-file", "basic",
        ("add event from file {file} on day {day}", "plan what is in file {file} for day {day}"),
        ("read_file file", "add_event $0 day"),
    ),
    Skill(
        "buy", "basic",
        ("buy {count} of {item}", "order {count} of item {item}", "get {count} pieces of {item}"),
        ("find_item item", "buy_item $0 count"),
        ("buy some {item}",),
    ),
    Skill(
        "price", "basic",
        ("price of {item}", "how much is {item}", "what does item {item} cost"),
        ("find_item item", "item_price $0"),
    ),
    Skill(
        "pay", "basic",
        ("pay {amount} to {payee}", "give {payee} {amount} money"),
        ("find_account payee", "pay_account $0 amount"),
        ("pay {payee}",),
    ),
    Skill(
        "balance", "basic",
        ("how much money has {payee}", "show balance of {payee}"),
        ("find_account payee", "account_balance $0"),
    ),
)  # fmt: skip

_CHAIN = (
    Skill(
        "send-file", "chain",
        ("send file {file} to {person}", "tell {person} what is in file {file}"),
        ("read_file file", "find_phone person", "send_text $1 $0"),
    ),
    Skill(
        "save-price", "chain",
        ("write price of {item} to file {new_file}", "save cost of {item} in {new_file}"),
        ("find_item item", "item_price $0", "write_file new_file $1"),
    ),
    Skill(
        "save-day", "chain",
        ("write day of event {event} to file {new_file}", "save when {event} is in {new_file}"),
        ("find_event event", "event_day $0", "write_file new_file $1"),
    ),
    Skill(
        "save-message", "chain",
        ("write message from {person} to file {new_file}",
         "save what {person} did write in {new_file}"),
        ("find_phone person", "read_inbox $0", "write_file new_file $1"),
    ),
    Skill(
        "save-balance", "chain",
        ("write balance of {payee} to file {new_file}", "save money of {payee} in {new_file}"),
        ("find_account payee", "account_balance $0", "write_file new_file $1"),
    ),
    Skill(
        "tell-day", "chain",
        ("tell {person} day of event {event}", "let {person} know when {event} is"),
        ("find_event event", "event_day $0", "find_phone person", "send_text $2 $1"),
    ),
    Skill(
        "tell-price", "chain",
        ("tell {person} price of {item}", "let {person} know how much {item} is"),
        ("find_item item", "item_price $0", "find_phone person", "send_text $2 $1"),
    ),
    Skill(
        "forward", "chain",
        ("forward message from {person} to {person2}", "send {person2} what {person} did write"),
        ("find_phone person", "read_inbox $0", "find_phone person2", "send_text $2 $1"),
    ),
    Skill(
        "same-day", "chain",
        ("move event {event} to day of {event2}", "shift {event} to when {event2} is"),
        ("find_event event2", "event_day $0", "find_event event", "move_event $2 $1"),
    ),
    Skill(
        "pay-price", "chain",
        ("pay price of {item} to {payee}", "give {payee} what {item} does cost"),
        ("find_item item", "item_price $0", "find_account payee", "pay_account $2 $1"),
    ),
    Skill(
        "cancel-order", "chain",
        ("cancel order of {ordered}", "drop order of item {ordered}"),
        ("find_item ordered", "find_order $0", "cancel_order $1"),
    ),
    Skill(
        "tell-named", "chain",
        ("text {word} to person in file {person_file}", "send {word} to who is in {person_file}"),
        ("read_file person_file", "find_phone $0", "send_text $1 word"),
    ),
    Skill(
        "save-named", "chain",
        ("write message from person in file {person_file} to {new_file}",
         "save what person in {person_file} did write in {new_file}"),
        ("read_file person_file", "find_phone $0", "read_inbox $1", "write_file new_file $2"),
    ),
    Skill(
        "buy-wish", "chain",
        ("buy {count} of what {item_person} did write", "order {count} of item {item_person} said"),
        ("find_phone item_person", "read_inbox $0", "find_item $1", "buy_item $2 count"),
    ),
    Skill(
        "cancel-wish", "chain",
        ("cancel event that {event_person} did write", "drop the event {event_person} said"),
        ("find_phone event_person", "read_inbox $0", "find_event $1", "cancel_event $2"),
    ),
    Skill(
        "move-named", "chain",
        ("move event that person in file {event_person_file} did write to day {day}",
         "shift to day {day} what person in {event_person_file} said"),
        ("read_file event_person_file", "find_phone $0", "read_inbox $1", "find_event $2",
         "move_event $3 day"),
    ),
    Skill(
        "buy-named", "chain",
        ("buy {count} of what person in file {item_person_file} did write",
         "order {count} of item that person in {item_person_file} said"),
        ("read_file item_person_file", "find_phone $0", "read_inbox $1", "find_item $2",
         "buy_item $3 count"),
    ),
)  # fmt: skip

_REFER = (
    Skill(
        "refer-delete",
        "refer",
        ("now delete that file", "erase that file again"),
        ("delete_file @file",),
    ),
    Skill(
        "refer-rename",
        "refer",
        ("rename that file to {new_file}", "call that file now {new_file}"),
        ("rename_file @file new_file",),
    ),
    Skill(
        "refer-send",
        "refer",
        ("send that file to {person}", "tell {person} what is in that file"),
        ("read_file @file", "find_phone person", "send_text $1 $0"),
    ),
    Skill(
        "refer-move",
        "refer",
        ("move that event to day {day}", "shift that event to day {day}"),
        ("move_event @event day",),
    ),
    Skill(
        "refer-cancel",
        "refer",
        ("cancel that event", "drop that event"),
        ("cancel_event @event",),
    ),
    Skill(
        "refer-order",
        "refer",
        ("cancel that order", "drop that order"),
        ("cancel_order @order",),
    ),
    Skill(
        "refer-more",
        "refer",
        ("buy {count} more", "order {count} more of that item"),
        ("buy_item @item count",),
    ),
    Skill(
        "refer-tell",
        "refer",
        ("also tell the same person {word}", "text {word} to the same person"),
        ("send_text @phone word",),
    ),
    Skill(
        "refer-same",
        "refer",
        ("send the same text to {person}", "tell {person} the same"),
        ("find_phone person", "send_text $0 @text"),
    ),
)

_LIST = (
    Skill(
        "list-delete", "list",
        ("delete the file that says {file.text}", "erase the file with text {file.text}"),
        ("list_files", "delete_file file"),
    ),
    Skill(
        "list-owner", "list",
        ("delete the contact with phone {person.phone}", "erase who has phone {person.phone}"),
        ("list_contacts", "delete_contact person"),
    ),
    Skill(
        "list-move", "list",
        ("move the event on day {event.day} to day {day}",
         "shift what is on day {event.day} to day {day}"),
        ("list_events", "move_event event.id day"),
    ),
    Skill(
        "list-cancel", "list",
        ("cancel the event on day {event.day}", "drop what is on day {event.day}"),
        ("list_events", "cancel_event event.id"),
    ),
    Skill(
        "list-buy", "list",
        ("buy {count} of the item that costs {item.price}",
         "order {count} of what costs {item.price}"),
        ("list_items", "buy_item item.id count"),
    ),
    Skill(
        "list-order", "list",
        ("look at all orders and cancel the one of {ordered}",
         "drop the one of {ordered} among all orders"),
        ("list_orders", "cancel_order ordered.order"),
    ),
)  # fmt: skip

_UNSEEN = (
    Skill(
        "append", "unseen",
        ("append {word} to file {file}", "add {word} at the end of file {file}"),
        ("append_file file word",),
    ),
    Skill(
        "clear", "unseen",
        ("clear inbox of {person}", "delete message from {person}"),
        ("find_phone person", "clear_inbox $0"),
    ),
    Skill(
        "retitle", "unseen",
        ("rename event {event} to {new_event}", "call event {event} now {new_event}"),
        ("find_event event", "rename_event $0 new_event"),
    ),
    Skill(
        "reorder", "unseen",
        ("change order of {ordered} to {count}", "set order of {ordered} to {count} pieces"),
        ("find_item ordered", "find_order $0", "change_order $1 count"),
    ),
    Skill(
        "close", "unseen",
        ("close account of {payee}", "close bank account of {payee}"),
        ("find_account payee", "close_account $0"),
    ),
)  # fmt: skip

SKILLS: Mapping[str, Skill] = {s.name: s for s in _BASIC + _CHAIN + _REFER + _LIST + _UNSEEN}


def named(group: Group, depth: int, names: int) -> tuple[str, ...]:
    """The skills of a group with at most ``depth`` edges in a chain and ``names`` names."""
    return tuple(
        s.name
        for s in SKILLS.values()
        if s.group == group and s.depth <= depth and s.names <= names
    )
