"""Labels are carried by parameters, each way of doing so once."""

from __future__ import annotations

from rods.structure.planning.assigning import Assigner
from rods.structure.planning.catalog import Catalog, ParameterFacts, ToolFacts
from rods.structure.planning.derivations import Derivations
from rods.structure.planning.skeleton import Label
from rods.types import SourceKind

USER, DERIVED = Label(SourceKind.USER), Label(SourceKind.DERIVED)


def assigner(**kinds: str) -> Assigner:
    parameters = {
        name: ParameterFacts(kind=kind, labels={"user": 3}, values=["a", "b"])
        for name, kind in kinds.items()
    }
    catalog = Catalog(tools={"book": ToolFacts(group=0, parameters=parameters)})
    return Assigner(catalog, {}, Derivations({}))


def test_parameters_of_equal_labels_are_not_permuted() -> None:
    found = assigner(a="string", b="string", c="string", cost="number").assignments(
        "book", (DERIVED, USER, USER, USER)
    )
    assert found == (("cost", "a", "b", "c"),)


def test_an_amount_can_be_derived_and_an_id_cannot() -> None:
    assert assigner(cost="number").assignments("book", (DERIVED,)) == (("cost",),)
    assert assigner(order_id="integer").assignments("book", (DERIVED,)) == ()


def test_too_few_labels_for_the_required_parameters_fit_nothing() -> None:
    assert assigner(a="string", b="string").assignments("book", (USER,)) == ()
