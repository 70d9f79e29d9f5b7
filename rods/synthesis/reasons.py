"""Why an attempt at a variant failed."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """The twelve error types of the paper (arXiv:2606.19047, appendix), then our own.

    A patchable one says that a change of the world's initial state, other values or another
    function could still save the attempt; the rest end it.
    """

    PARAM_GEN_FAILED = "param_gen_failed"
    DECOMPOSE_FAILED = "decompose_failed"
    FUNC_SAMPLE_FAILED = "func_sample_failed"
    VM_EXEC_FAILED = "vm_exec_failed"
    DUPLICATE_FUNC = "duplicate_func"
    QUERY_GEN_FAILED = "query_gen_failed"
    QUERY_VERIFY_FAILED = "query_verify_failed"
    QUERY_VERIFY_NO_TAG = "query_verify_no_tag"
    CONVERSATION_CONSTRUCT_FAILED = "conversation_construct_failed"
    NO_PROMPTS = "no_prompts"
    NO_PATTERN = "no_pattern"
    PIPELINE_EXCEPTION = "pipeline_exception"

    NOTHING_TO_CHANGE = "nothing_to_change"  # no value of the seed can be another
    OUTPUT_MISMATCH = "output_mismatch"  # the world answered otherwise than the substituted seed
    STALE_MENTION = "stale_mention"  # the user names a result that is no longer so
    NOT_DETERMINISTIC = "not_deterministic"  # two fresh worlds disagree
    INVALID_ARGUMENTS = "invalid_arguments"  # a call does not fit its schema
    UNKNOWN_TOOL = "unknown_tool"  # a call of a tool that the task does not offer at that turn
    TOO_LONG = "too_long"  # a string over 200 characters or a list over 5 items
    PROFILE_MISMATCH = "profile_mismatch"  # another structure than the plan's
    NO_OP_TURN = "no_op_turn"  # a turn with a reference that shows nothing new, unlike the seed's
    NO_SOURCE = "no_source"  # an argument that nothing in the conversation gives
    LEAK = "leak"  # the user speaks of functions, parameters or reasoning
    CONTAMINATED = "contaminated"  # too near to an evaluation task
    OBJECTED = "objected"  # the world itself speaks against the task
    DUPLICATE = "duplicate"  # equal content is known already
    NOT_EDITABLE = "not_editable"  # no turn of the task admits the augmentation
    REPETITION = "repetition"  # a model's message says the same over and over
    WRONG_LENGTH = "wrong_length"  # a model's message is too short or too long for its calls
    CALL_UNSAID = "call_unsaid"  # a model's message does not speak of one of its calls
    FOREIGN_WORDS = "foreign_words"  # a model's message is not in the words of the world's users

    @property
    def patchable(self) -> bool:
        """Another try with other values or another state may succeed."""
        return self in _PATCHABLE


_PATCHABLE = frozenset(
    {
        Reason.PARAM_GEN_FAILED,
        Reason.DECOMPOSE_FAILED,
        Reason.FUNC_SAMPLE_FAILED,
        Reason.VM_EXEC_FAILED,
        Reason.OUTPUT_MISMATCH,
        Reason.STALE_MENTION,
    }
)
