"""Readable words for new names, titles and sentences; neutral, and none is a command or a unit."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = _words(
    "Aaron Adam Adrian Alex Alexander Andrea Andrew Anna Anthony Carlina Caroline Charlotte "
    "Christine Christopher Eleanor Elizabeth Francis Gabriel Helen Isabel Jennifer Jessica "
    "Jonathan Joseph Joshua Justin Katherine Kevin Laurence Margaret Mary Matthew Monica "
    "Natalie Nicholas Olivia Patrick Paul Rafael Richard Ronald Samantha Sophia Stephen "
    "Steven Susan Theresa Timothy Valerie Victoria Vincent Adela Alan Alice Amara Amelia "
    "Andre Anita Anton Arthur Astrid Barbara Beatrice Ben Bianca Bruno Camila Carla Carlos "
    "Catherine Cedric Charles Chloe Clara Claude Colin Dana Daniel David Diana Dimitri Dora "
    "Edith Edward Elena Elias Elise Emily Emma Erik Esther Ethan Eva Evelyn Felix Fiona Frank "
    "Frida George Gloria Grace Greta Gustav Hanna Harold Hector Heidi Helena Henry Hugo Ida "
    "Igor Ines Irene Isaac Ivan Jack Jacob James Jane Jasper Jerry Joan John Jonas Julia "
    "Karen Karl Kate Kira Laura Lena Leon Linda Lisa Louis Lucas Lucia Lydia Magda Maria Mark "
    "Marta Martin Matilda Matt Max Maya Mia Michael Mila Nadia Nathan Nina Noah Nora Olga "
    "Oliver Oscar Otto Paula Peter Philip Rachel Ralph Rebecca Rita Robert Rosa Ruth Samuel "
    "Sara Sarah Sebastian Silvia Simon Sofia Stella Theo Thomas Tina Tobias Ursula Vera "
    "Victor Viola Walter Wanda William Yara Zoe"
)
LAST_NAMES = _words(
    "Abbott Adler Archer Ashford Baker Barlow Becker Bennett Berg Bishop Blake Bolton Bradley "
    "Brandt Carver Castell Clarke Conway Cooper Crane Dalton Delgado Doyle Duval Ellison "
    "Farrow Ferrer Finch Fischer Foster Garner Gibson Grant Hale Hansen Harper Hartman Hayes "
    "Holm Hughes Irving Jansen Jensen Keller Kendall Kovacs Lambert Larsen Lawson Lindgren "
    "Lowell Marlow Mercer Miller Monroe Moreno Nolan Norris Novak Olsen Osborne Parker Pascal "
    "Peters Quinn Ramsey Reyes Ritter Rossi Russo Sawyer Schmidt Serrano Shaw Sloane Smith "
    "Sorensen Stanton Steele Sutton Talbot Thompson Thornton Turner Valdez Vaughn Wagner "
    "Walsh Warner Weaver Weber Wells Winslow Yates Young"
)
NOUNS = _words(
    "acorn anchor anvil apple apron arch aspen atlas autumn badge balcony bamboo banjo barley "
    "basil basket beacon beaver bell berry birch bishop blanket blossom bonsai bottle boulder "
    "branch bridge bronze brook brush bucket cabin cactus camel candle canoe canopy canyon "
    "carbon castle cedar chalk cherry chestnut chimney cider cinder clay cliff clover cobalt "
    "comet compass copper coral corner cotton cradle crane crater cricket crown crystal "
    "cypress dahlia daisy delta diamond dome dragon dune eagle easel echo elbow elm ember "
    "emerald fable falcon feather fern fiddle field fig finch flame flint forest fossil "
    "fountain fox garden garnet geyser ginger glacier grove guitar gull hammer harbor harvest "
    "hazel hedge heron hickory hollow honey horizon iris island ivory ivy jade jasmine "
    "juniper kettle kite ladder lagoon lantern larch laurel lavender ledge lemon lilac lily "
    "linen lotus lynx magnet mango maple marble marigold marsh meadow melon mesa mint mirror "
    "mosaic moss mulberry myrtle nectar nest nickel nutmeg oak oasis oat olive onyx opal "
    "orchard orchid otter owl paddle palm panther paper parrot pearl pebble pepper piano "
    "pillow pine planet plum pond poplar poppy prairie prism pumpkin quartz quill raven reed "
    "ribbon ridge river robin rocket rose ruby saddle saffron sage sail salmon sand sapphire "
    "satin seal shell shore silk silver sparrow spruce stone stream summit sunset swan "
    "sycamore tablet temple thistle thunder tiger timber topaz torch tower trail tulip tunnel "
    "turtle valley velvet violet violin walnut wagon willow window winter wolf wren zephyr"
)
TOPICS = _words(
    "budget inventory travel onboarding payroll catalog warehouse marketing delivery "
    "maintenance training supplier conference workshop newsletter library garden kitchen "
    "festival holiday recruiting insurance furniture packaging translation photography"
)
EVENTS = _words(
    "review update summary request reminder notice inquiry overview schedule proposal "
    "checklist report plan briefing agenda survey"
)
QUALIFIERS = _words(
    "quarterly weekly annual revised urgent final preliminary detailed monthly joint internal "
    "seasonal regional official brief"
)
SENTENCES = (
    "The {qualifier} {topic} {event} is ready.",
    "Please look at the {qualifier} {topic} {event}.",
    "We finished the {topic} {event} this morning.",
    "A new {topic} {event} has arrived.",
    "There is a question about the {qualifier} {topic} {event}.",
    "The {topic} team asks for the {qualifier} {event}.",
    "Everything for the {topic} {event} is in place.",
    "The {event} of the {topic} project was moved.",
)
"""Filled with a qualifier, a topic and an event; each is harmless and says nothing checkable."""
KEPT = frozenset(
    _words(
        "january february march april may june july august september october november december "
        "jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday "
        "friday saturday sunday http https www com org net edu gov the and for with from of to in "
        "on at a an"
    )
)
"""Parts of a name that a new name keeps."""
