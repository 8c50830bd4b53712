"""How a command ends: normally, with an error in one line, or by Ctrl-C."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from typing import Any

import typer

from rarefind._core.extras import MissingExtraError
from rarefind._core.text import visible

# Typer may bring a click of its own, so its errors are found through Typer.
_UsageError: Any = typer.BadParameter.__base__
_CommandError: Any = _UsageError.__base__

_NEW_LINE = "\n"
_STOPPED = 130  # what shells expect after Ctrl-C
_WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EACCES: "you may not read or write it",
    errno.EPERM: "you may not read or write it",
    errno.EROFS: "the disk is read-only",
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of its path is not a folder",
    errno.EISDIR: "it is a folder",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EFBIG: "it would be too large",
    errno.EIO: "the disk reports an error",
}


def run(app: typer.Typer) -> None:
    """Run a command line; bad input ends with one line and exit code 2."""
    warnings.showwarning = _note
    try:
        code = app(standalone_mode=False)
    except _CommandError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            raise SystemExit(2) from None
        _end(error.format_message())
    except (typer.Abort, KeyboardInterrupt):
        code = _STOPPED
    except BrokenPipeError:  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except OSError as error:
        _end(_in_words(error))
    except (ValueError, MemoryError, MissingExtraError) as error:
        _end(str(error) or sentence_of(error))
    if code == _STOPPED:  # Typer may return it by itself
        print("rarefind: Stopped; no file was left half-written.", file=sys.stderr)
    raise SystemExit(code if isinstance(code, int) else 0)


def sentence_of(error: Exception) -> str:
    """An error as a sentence; the text of another library is not shown."""
    trace, module = error.__traceback__, "rarefind"
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next
    library = module.split(".")[0]
    if isinstance(error, MemoryError):
        return "There is not enough memory: use fewer rows or columns."
    if library == "rarefind":
        return str(error)
    return f"{library} could not learn from these rows."


def _end(sentence: str) -> None:
    print(f"rarefind: {visible(sentence, keep=_NEW_LINE)}", file=sys.stderr)
    raise SystemExit(2) from None


def _in_words(error: OSError) -> str:
    """An error of the system as a sentence that names the file."""
    if error.errno is None:
        return str(error)
    reason = _WORDS.get(error.errno, error.strerror or "it cannot be read or written")
    name = os.fspath(error.filename) if isinstance(error.filename, str | os.PathLike) else ""
    return f"{name}: {reason}." if name else f"A file cannot be read or written: {reason}."


def _note(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
    """A warning as one line; those for programmers are left out."""
    if issubclass(category, UserWarning) and not issubclass(category, FutureWarning):
        print(f"rarefind: note: {visible(message, keep=_NEW_LINE)}", file=sys.stderr)
