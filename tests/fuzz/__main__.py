"""Mutated files by the thousand: each is refused with a sentence, or does twice the same.

``cd tests && python -m fuzz --count 20000 --seed 1`` for model files, ``--what readers`` for files
of tables, ``--what rules`` for files of rules. ``--bounds-check`` compiles the kernels once more,
with Numba's own checks of every index. ``--only NUMBER --kind NAME`` repeats one mutant.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    add = parser.add_argument
    add("--what", choices=["models", "readers", "rules"], default="models", help="files of which")
    add("--count", type=int, default=2000, help="mutants of all kinds together")
    add("--seed", type=int, default=0)
    add("--kind", action="append", default=[], help="only kinds with this in their name")
    add("--released", action="store_true", help="only the files of 0.1.0, which need no fits")
    add("--bounds-check", action="store_true", help="with Numba's checks of every index")
    add("--time-limit", type=float, default=3600, help="seconds after which no group begins")
    add("--only", type=int, help="the mutant with this number, of each kind")
    add("--keep", type=Path, help="a folder for the files that fail")
    add("--list", action="store_true", help="list the kinds")
    return parser.parse_args()


def _set_up(bounds_check: bool) -> None:
    """Before NumPy and Numba are imported: one thread, and where kernels are kept."""
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", POLARS_MAX_THREADS="1")
    sources = Path(__file__).parents[2] / "src"
    sys.path.insert(0, str(sources))
    if bounds_check:
        from fuzz.honest import KEPT

        os.environ["NUMBA_BOUNDSCHECK"] = "1"
        os.environ["NUMBA_CACHE_DIR"] = str(KEPT / "checked-kernels")


def main() -> int:
    """Run, and print what came of it; 1 if a file did what none may."""
    given = _arguments()
    _set_up(given.bounds_check)
    _preload()
    with tempfile.TemporaryDirectory(prefix="rarefind-fuzz-") as folder:
        return _run(given, _kinds(given, Path(folder)))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _kinds(given: argparse.Namespace, folder: Path):  # type: ignore[no-untyped-def]
    """The honest files of what is asked for."""
    if given.what == "readers":
        from fuzz.table_files import table_kinds

        return _in_a_child(table_kinds, folder)
    if given.what == "rules":
        from fuzz.rule_files import rule_kinds

        return _in_a_child(rule_kinds, folder)
    from fuzz.honest import present_kinds, released_kinds

    return released_kinds() + ([] if given.released else _in_a_child(present_kinds, _say))


def _run(given: argparse.Namespace, kinds) -> int:  # type: ignore[no-untyped-def]
    from fuzz.processes import is_failure, run_group
    from fuzz.verdicts import HONEST

    kinds = [k for k in kinds if not given.kind or any(part in k.name for part in given.kind)]
    if given.list or not kinds:
        print(*(kind.name for kind in kinds), sep="\n")
        return 0
    each, more = divmod(given.count, len(kinds))
    numbers = {k.name: range(each + (i < more)) for i, k in enumerate(kinds)}
    if given.only is not None:
        numbers = {kind.name: range(given.only, given.only + 1) for kind in kinds}
    results, start = [], time.monotonic()
    for group in sorted({kind.group for kind in kinds}):
        if time.monotonic() - start > given.time_limit:
            _say(f"The time limit is reached before {group}.")
            break
        members = [kind for kind in kinds if kind.group == group and numbers[kind.name]]
        own = list(run_group(members, given.seed, numbers, given.keep))
        bad = sum(map(is_failure, own))
        _say(f"{group}: {len(own)} files, {bad} failures, {time.monotonic() - start:.0f} s so far")
        results += own
    _print_table(results)
    failed = [result for result in results if is_failure(result)]
    for result in failed:
        which = "honest" if result.number == HONEST else result.number
        print(f"{result.kind}\t{result.seed}\t{which}\t{result.verdict}\t{result.mutation}")
    return int(bool(failed))


def _preload() -> None:
    """Import all that models of any kind import; nothing is computed, so that no thread starts."""
    import preloaded

    preloaded.preload()


def _in_a_child(make, given):  # type: ignore[no-untyped-def]
    """Write the files in a process of its own: libraries start threads, which a fork would lose."""
    child = os.fork()
    if not child:
        try:
            make(given)
            os._exit(0)
        except BaseException as error:
            _say(f"{type(error).__name__}: {error}")
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise SystemExit("The honest files could not be made.")
    return make(given)


def _print_table(results) -> None:  # type: ignore[no-untyped-def]
    from fuzz.processes import is_failure
    from fuzz.verdicts import FAIR, HONEST, NOT_MADE

    counts: dict[str, Counter[str]] = {}
    for result in results:
        if result.number != HONEST:
            verdict = "failed" if is_failure(result) else result.verdict
            group = result.kind.removeprefix("0.1.0/").rpartition("-")[0] or result.kind
            counts.setdefault(group, Counter())[verdict] += 1
    counts = dict(sorted(counts.items()))
    counts["all"] = sum(counts.values(), Counter())
    columns = [*(verdict for verdict in FAIR if counts["all"][verdict]), NOT_MADE, "failed"]
    print("| kind | mutants | " + " | ".join(columns) + " |")
    print("|---" * (2 + len(columns)) + "|")
    for name, found in counts.items():
        cells = [str(found[column]) for column in columns]
        print(f"| {name} | {sum(found.values())} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    raise SystemExit(main())
