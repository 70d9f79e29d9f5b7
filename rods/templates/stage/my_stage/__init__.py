"""A stage needs no hook: ``-o synthesizer.stages.rewrite=my_stage:MyStage`` names the class."""

from my_stage.rewrite import MyStage

__all__ = ["MyStage"]
