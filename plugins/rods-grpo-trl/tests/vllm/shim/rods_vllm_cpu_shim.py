"""Test-only: what a GPU would bring along, for vLLM's CPU build and TRL's client.

vLLM loads ``register`` in each of its processes. The trainer's process calls ``exact_engines`` or
``transfer_over_gloo``. Everything else that runs is vLLM's and TRL's own code. Written against
vLLM 0.31.0 and TRL 1.16.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

AGENT_STORE = "TORCHELASTIC_USE_AGENT_STORE"


def register() -> None:
    """Linear layers stay as they are in a checkpoint, and weights can be received over gloo."""
    from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory
    from vllm.model_executor.layers import utils

    utils.dispatch_cpu_unquantized_gemm = _keep_the_layout
    WeightTransferEngineFactory._registry.setdefault("gloo", _gloo_engine)


def exact_engines() -> None:
    """TRL's colocated engine computes in fp32, as the trainer does; it would choose bf16."""
    from trl.generation import vllm_generation

    vllm_generation.LLM = functools.partial(
        vllm_generation.LLM, dtype="float32", enforce_eager=True
    )


def transfer_over_gloo() -> None:
    """TRL's client sends weights over gloo: it would refuse a trainer without CUDA."""
    from trl.generation import vllm_client

    init_communicator = vllm_client.VLLMClient.init_communicator

    def init_with_a_name_that_passes(self: Any, device: Any = 0) -> None:
        init_communicator(self, "cuda")  # only looked at, never used

    vllm_client.VLLMClient.init_communicator = init_with_a_name_that_passes
    vllm_client.open_trainer_endpoint = _open_endpoint
    vllm_client.packed_nccl_broadcast_producer = _send_weights


# ------------------------------------------------------------------------------- vLLM's side
def _keep_the_layout(layer: torch.nn.Module, remove_weight: bool) -> None:
    """Instead of packing the weights for oneDNN, after which no new ones can be loaded."""
    layer.cpu_linear = torch.nn.functional.linear


def _gloo_engine() -> type:
    from vllm.distributed.weight_transfer.nccl_engine import NCCLWeightTransferEngine

    class GlooWeightTransferEngine(NCCLWeightTransferEngine):
        """Receives what ``_send_weights`` sends, tensor by tensor."""

        def init_transfer_engine(self, init_info: Any) -> None:
            self.peers = GlooGroup(
                init_info.master_address,
                init_info.master_port,
                init_info.rank_offset,
                init_info.world_size,
            )

        def receive_weights(self, update_info: Any) -> None:
            described = zip(
                update_info.names, update_info.dtype_names, update_info.shapes, strict=True
            )
            for name, dtype, shape in described:
                weight = torch.empty(shape, dtype=getattr(torch, dtype))
                self.peers.broadcast(weight)
                self.model.load_weights([(name, weight)])

    return GlooWeightTransferEngine


# ------------------------------------------------------------------------------- the trainer's side
def _open_endpoint(init_info: dict[str, Any]) -> GlooGroup:
    return GlooGroup(
        init_info["master_address"], init_info["master_port"], 0, init_info["world_size"]
    )


def _send_weights(
    iterator: Iterator[Any], group: GlooGroup, src: int, post_iter_func: Callable[[Any], Any]
) -> None:
    for item in iterator:
        group.broadcast(post_iter_func(item).detach().contiguous(), src)


class GlooGroup:
    """The trainer (rank 0) and the server's workers."""

    def __init__(self, host: str, port: int, rank: int, world_size: int) -> None:
        from vllm.distributed.utils import stateless_init_torch_distributed_process_group

        with _without_the_launchers_store():
            self.processes = stateless_init_torch_distributed_process_group(
                host, port, rank, world_size, backend="gloo"
            )
        self.group = self  # where TRL looks for sockets to close: there are none

    def broadcast(self, tensor: torch.Tensor, src: int = 0) -> None:
        """``tensor`` holds what ``src`` had in it."""
        options = torch.distributed.BroadcastOptions()
        options.rootRank, options.rootTensor = src, 0
        self.processes.broadcast([tensor], options).wait()


@contextmanager
def _without_the_launchers_store() -> Iterator[None]:
    """Under torchrun rank 0 would not open a store for the group, and all would wait for it."""
    before = os.environ.pop(AGENT_STORE, None)
    try:
        yield
    finally:
        if before is not None:
            os.environ[AGENT_STORE] = before
