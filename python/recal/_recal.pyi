from typing import Any, Literal, Optional, Union, overload

__version__: str

class Error(RuntimeError):
    """What went wrong."""

    code: str
    """Name of the CALresult."""
    kind: str
    """`kernel`, `out of memory`, `timeout`, `device lost`, `unsupported`, `argument`, `internal` or `other`."""

class KernelError(Error):
    """A kernel was not accepted. Its text shows the places."""

    diagnostics: list[dict[str, Any]]
    """As `check` gives them."""

class Context:
    """A queue of a device."""

    def __new__(
        cls,
        device: Optional[int] = None,
        *,
        backend: Optional[Literal["cpu", "vulkan"]] = None,
        timeout: Optional[float] = None,
        checks: bool = False,
    ) -> Context: ...
    @property
    def device(self) -> dict[str, Any]: ...
    def findings(self) -> Optional[list[dict[str, Any]]]: ...

class Kernel:
    """A kernel in a context."""

    def __new__(cls, il: str, context: Optional[Context] = None) -> Kernel: ...
    @property
    def il(self) -> str: ...
    @property
    def compute(self) -> bool: ...
    @property
    def symbols(self) -> list[str]: ...
    @property
    def linear(self) -> list[str]: ...
    @property
    def warnings(self) -> list[dict[str, Any]]: ...
    @property
    def context(self) -> Context: ...
    def launch(
        self, given: list[tuple[str, Any, int, int, str, bool]], work: list[int]
    ) -> tuple[float, list[str]]: ...

def devices() -> list[dict[str, Any]]: ...
def check(il: str, target: str = "cypress") -> list[dict[str, Any]]: ...
@overload
def analyze(il: str, chip: str = "cypress", trips: int = 16) -> dict[str, Any]: ...
@overload
def analyze(il: str, chip: None, trips: int = 16) -> list[dict[str, Any]]: ...
