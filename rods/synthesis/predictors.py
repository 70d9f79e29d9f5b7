"""What language models are asked: one DSPy signature a question. Importing this loads dspy.

Docstrings are the instructions that `rods tune` starts from; every predictor has a signature of its
own, because traces are told apart by signature.
"""

from __future__ import annotations

from typing import Literal

import dspy
from pydantic import BaseModel


class FreeText(BaseModel):
    """A text for one placeholder."""

    placeholder: str
    text: str


class ChoosePlan(dspy.Signature):
    """Choose the plan that one person would most naturally carry out in one session with an
    assistant, and tell its story.

    Each option lists the function calls behind every message of a conversation. Prefer the option
    whose calls serve a single goal, whose later messages follow from earlier ones, and whose values
    fit each other (the same person, the same route, a price near the quote). Then write a narrative
    of two or three sentences: who the person is, what they want, and why every step of the chosen
    plan is needed. Do not name functions or parameters in it. Heed the guidance: it tells what went
    wrong with earlier plans.
    """

    functions: str = dspy.InputField(desc="what the functions do, one a line")
    options: list[str] = dspy.InputField(desc="the plans, numbered from 1")
    guidance: list[str] = dspy.InputField(desc="what went wrong before; may be empty")
    choice: int = dspy.OutputField(desc="the number of the best option")
    narrative: str = dspy.OutputField(desc="two or three sentences")


class FillTexts(dspy.Signature):
    """Write the free texts of a plan: titles, messages and descriptions that suit its story.

    Each text is one line of at most 150 characters, says only what the story makes known by then,
    and repeats no id, price or date that only an earlier answer gives.
    """

    story: str = dspy.InputField(desc="the narrative and the calls of the plan")
    wanted: list[str] = dspy.InputField(desc="placeholder and purpose of each text")
    texts: list[FreeText] = dspy.OutputField(desc="one text for each placeholder")


class WriteConversation(dspy.Signature):
    """Write all messages that a user sends to an assistant, as one coherent conversation around the
    narrative.

    Write exactly one message for every entry of `requests`, in that order. A message asks for
    everything its entry lists, and for nothing else, in the natural words of a person who knows
    nothing of functions, parameters or tools. Copy every placeholder of `required`, such as {v1},
    into its message exactly as it is written: it will be replaced by the value. Placeholders {h1}
    stand for texts of your own: use them in the message, too, and give each text in `texts`. Never
    say a value listed under `unknown`: point at it instead ("that order", "the file you just
    found"). Never ask in advance for what a later message asks for. Where `remarks` are given,
    write the whole conversation again so that each of them is answered.
    """

    narrative: str = dspy.InputField(desc="who the user is and what they want")
    requests: list[str] = dspy.InputField(desc="what each message asks for")
    required: list[str] = dspy.InputField(desc="placeholders that each message must contain")
    values: list[str] = dspy.InputField(desc="what the placeholders stand for")
    unknown: list[str] = dspy.InputField(desc="values that the user must not say")
    remarks: list[str] = dspy.InputField(desc="what was wrong with the last attempt")
    messages: list[str] = dspy.OutputField(desc="one message for each entry of requests")
    texts: list[FreeText] = dspy.OutputField(desc="your text for each {h...} placeholder")


class WriteMessage(dspy.Signature):
    """Write one polite message in which a user asks an assistant for what the request says.

    Keep every placeholder in braces, such as {v1}, exactly as it is written. Use the plain words
    of a person, and no names of functions or parameters. Answer with the message alone.
    """

    request: str = dspy.InputField(desc="what the user wants")
    message: str = dspy.OutputField(desc="the message")


class LeaveOut(dspy.Signature):
    """Leave a value out of a message, and write the message in which the user supplies it later.

    `request` asks for everything that `message` asks for, with every other value as it stands
    there, but does not tell the value {value}: it stays open or vague, as if the user had forgotten
    it. `supply` is the short message that the user sends when asked for it; it contains {value}
    exactly once, as a placeholder. No names of functions or parameters.
    """

    message: str = dspy.InputField(desc="the message with the placeholder {value}")
    missing: str = dspy.InputField(desc="what {value} is")
    request: str = dspy.OutputField(desc="the message without {value}")
    supply: str = dspy.OutputField(desc="the later message with {value}")


class PatchState(dspy.Signature):
    """Change the initial state of a simulated world so that a failing call works.

    The call and its arguments stay as they are. Choose the one place whose change removes the cause
    of the error, and give the new value as JSON of the type that stands there. Where an entry is
    added, `key` is its name and `value` has exactly the fields of the entries shown; else `key` is
    empty. Do not repeat what has been tried.
    """

    call: str = dspy.InputField(desc="the call that fails")
    error: str = dspy.InputField(desc="what the world answers")
    places: list[str] = dspy.InputField(desc="what may be changed, numbered from 1")
    tried: list[str] = dspy.InputField(desc="changes that did not help; may be empty")
    place: int = dspy.OutputField(desc="the number of the place")
    key: str = dspy.OutputField(desc="the new entry's name, or empty")
    value: str = dspy.OutputField(desc="the value as JSON")


class JudgeTask(dspy.Signature):
    """Judge whether a conversation asks for exactly what was done.

    First read what the calls of each message changed and showed, then the calls, and only then the
    words. `query_matches`: every message asks for all of its calls and for nothing more, and an
    assistant that knows only the conversation and the world could make these calls with these
    arguments. `state_consistent`: the changes make sense in this world. `coherent`: later messages
    follow from earlier ones and speak of the same things. `natural`: a person could have written
    them. `well_formed`: each message is complete, on its own turn, without function names. Where
    the calls are "nothing yet", the message is right if it asks for what the next message makes
    possible, and wrong if the value that is left out stands in it. Name the fault: "wording" if
    other words for the same calls would repair it, "ground_truth" if the calls themselves are
    wrong, "none" if all five criteria hold. Remarks say what to change, by message.
    """

    changes: list[str] = dspy.InputField(desc="by message: what changed and what was answered")
    calls: list[str] = dspy.InputField(desc="by message: the calls")
    messages: list[str] = dspy.InputField(desc="the user's words")
    query_matches: bool = dspy.OutputField()
    state_consistent: bool = dspy.OutputField()
    coherent: bool = dspy.OutputField()
    natural: bool = dspy.OutputField()
    well_formed: bool = dspy.OutputField()
    fault: Literal["none", "wording", "ground_truth"] = dspy.OutputField()
    remarks: str = dspy.OutputField(desc="what to change; empty if nothing")


CRITERIA = ("query_matches", "state_consistent", "coherent", "natural", "well_formed")
