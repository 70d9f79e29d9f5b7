from .fakes import LampWorld
def test_x():
    assert LampWorld().tasks("train")
