"""Files and modules of custom parsers: read, and run as Python modules."""

import importlib
import importlib.util
import re
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from longline.model.errors import BadInput
from longline.plugins.parser_errors import describe

_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_SUFFIX = ".py"


def is_module(name: str) -> bool:
    """Return whether a custom parser's place is the dotted name of a module rather than the path of a file."""
    return not name.endswith(_SUFFIX) and not Path(name).exists() and _MODULE.fullmatch(name) is not None


def absolute_place(place: str) -> str:
    """Return the path of a file as it is found from any folder; the name of a module stays."""
    return str(Path(place).absolute()) if place.endswith(_SUFFIX) else place


def read_source(file: str) -> bytes:
    """Return the text of a Python file; raise `BadInput` for any other file."""
    path = Path(file)
    if not path.exists():
        raise BadInput(f"parsers: there is no file {path.absolute()}")
    if path.suffix != _SUFFIX or not path.is_file():
        raise BadInput(f"parsers: {file} is no Python file; name a file that ends in {_SUFFIX}, or a module")
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"parsers: {file} cannot be read: {error.strerror}") from error


def run_source(file: str, source: bytes) -> ModuleType:
    """Run the text of a file as a module; raise `BadInput` with the file and the line of a failure."""
    path = Path(file).absolute()
    _find_modules_in(path.parent)
    # Unique by path: two files may have the same name.
    name = f"longline_parsers_{path.stem}_{sha256(str(path).encode()).hexdigest()[:8]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    before = sys.modules.get(name)
    sys.modules[name] = module  # types of a config are looked up there by their names
    try:
        exec(compile(source, path, "exec"), vars(module))  # the operator's own code, named in a setting
    except Exception as error:  # third-party code may raise any exception
        sys.modules.pop(name)
        if before is not None:
            sys.modules[name] = before
        raise BadInput(f"parsers: {file} cannot be loaded: {describe(error, str(path))}") from error
    return module


def import_parsers(name: str) -> ModuleType:
    """Import a module by its dotted name; raise `BadInput` with the file and the line of a failure."""
    _find_modules_in(Path.cwd())
    try:
        return importlib.import_module(name)
    except Exception as error:  # third-party code may raise any exception
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and (name == missing or name.startswith(f"{missing}.")):
            raise BadInput(f"parsers: there is no file and no module {name}") from error
        raise BadInput(f"parsers: {name} cannot be loaded: {describe(error, _file_of(name))}") from error


def _find_modules_in(folder: Path) -> None:
    """Let parsers import the modules beside them; modules of the program go first."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _file_of(module: str) -> str:
    try:
        spec = importlib.util.find_spec(module)
    except ImportError:
        return ""
    return spec.origin or "" if spec else ""
