"""The page of the desk's benchmark, from what its parts have measured."""

from __future__ import annotations

from typing import Any

import pandas as pd
from _report import write

Part = tuple[str, pd.DataFrame]


def write_page(kept: dict[str, Any]) -> None:
    """Write the page with all parts that there are."""
    pages = {
        "load": _load,
        "pages": _people,
        "rate": _rate,
        "kills": _kills,
        "restart": _restart,
        "parity": _parity,
    }
    parts = [
        (f"## {name.capitalize()}\n\n`{kept[name]['command']}`, {kept[name]['date']}, "
         f"{kept[name]['cores']} cores, {kept[name]['minutes']} minutes. {text}", table)
        for name, page in pages.items()
        if name in kept
        for text, table in page(kept[name])
    ]  # fmt: skip
    write("desk", "python benchmarks/desk.py", parts)


def _load(found: dict[str, Any]) -> list[Part]:
    columns = ("p50", "p99", "p99.9", "longest")
    rows = [
        {
            "": run["what"],
            "durability": run["durability"],
            **{f"{name}, ms": f"{run[name]:.2f}" for name in columns},
            "processor, ms each": f"{run['processor ms']:.3f}",
            "of all processes": f"{run['processor ms of all']:.3f}",
            "not answered": run["failed"],
            "memory, MiB": " + ".join(f"{each:,.0f}" for each in run["memory MiB"]),
            "load of the sender": f"{run['sender load']:.0%}",
        }
        for run in found["runs"]
    ]
    ratios = []
    for desk, bare in zip(found["runs"][::2], found["runs"][1::2], strict=True):
        ratios.append(
            f"`{desk['durability']}`: p99 {desk['p99'] / bare['p99']:.2f} times, processor time "
            f"{desk['processor ms'] / bare['processor ms']:.2f} times that of the bare "
            "endpoint"
        )
    fsync = found["fsync"]
    text = (
        f"{found['rate']:g} transactions a second for {found['seconds']:g} s, open loop from "
        "another process, latency from the time each was due: a desk with 100 rules, an SGBAP model "
        f"and {found['cards']:,} cards with a history of {found['history']:,} rows, all its processes "
        "running; and a bare FastAPI + Pydantic endpoint that only stores, "
        f"for {found.get('bare seconds', found['seconds']):g} s. "
        f"{'; '.join(ratios)}. An fsync of 4 KiB takes {fsync['median']:.2f} ms (p99 "
        f"{fsync['p99']:.2f} ms). Processor time is that of the process that decides, and of all "
        "processes together; memory is the most that each of them has had."
    )
    return [(text, pd.DataFrame(rows))]


def _people(found: dict[str, Any]) -> list[Part]:
    parts: list[Part] = []
    for run in found["runs"]:
        text = (
            f"With `{run['durability']}`: {found['rate']:g} transactions a second for "
            f"{found['seconds']:g} s, a history of {found['history']:,} rows, all processes of the desk "
            "and the senders on the same cores. Decisions alone: p99 "
            f"{run['alone']['p99']:.2f} ms. While {run['people']} people work at their browsers "
            f"(queue, case, verdict, rules, a try, monitoring): p99 {run['together']['p99']:.2f} ms, "
            f"{run['together']['failed']} not answered, {run['failed']} pages failed."
        )
        rows = [
            {"": "decisions alone", **_decided(run["alone"])},
            {"": "decisions beside people", **_decided(run["together"])},
            *({"": name, **_written(page)} for name, page in run["pages"].items()),
        ]
        parts.append((text, pd.DataFrame(rows)))
    return parts


def _decided(run: dict[str, Any]) -> dict[str, str]:
    return _written(run | {"requests": run["answered"]})


def _written(run: dict[str, Any]) -> dict[str, str]:
    times = {f"{name}, ms": f"{run[name]:.1f}" for name in ("p50", "p99", "longest")}
    return {"requests": f"{run['requests']:,}"} | times


def _rate(found: dict[str, Any]) -> list[Part]:
    rows = [
        {
            "durability": durability,
            "a second": each["rate"],
            "p50, ms": f"{each['p50']:.2f}",
            "p99, ms": f"{each['p99']:.2f}",
            "not answered": each["failed"],
        }
        for durability in ("process", "disk")
        for each in sorted(found[durability]["tried"], key=lambda one: one["rate"])
    ]
    text = "; ".join(
        f"with `{durability}` p99 stays within 10 ms up to {found[durability]['highest']:,} "
        "transactions a second"
        for durability in ("process", "disk")
    )
    return [(f"{text[0].upper()}{text[1:]}.", pd.DataFrame(rows))]


def _kills(found: dict[str, Any]) -> list[Part]:
    rows = []
    for durability in ("process", "disk"):
        run, check = found[durability], found[durability]["check"]
        rows.append(
            {
                "durability": durability,
                "kills": run["kills"],
                "answered": run["answered"],
                "unanswered at first": run["unanswered"],
                "refused": run["refused"],
                "in the ledger": check["transactions"],
                "answered and missing": check["missing"],
                "answered otherwise": check["contradicted"],
                "verdicts": run["verdicts"],
                "verdicts missing": run["verdicts_missing"],
                "ledger": check["broken"] or "whole",
                "differ from an unbroken run": check["different"],
            }
        )
    text = (
        "A desk with 100 rules and an SGBAP model is killed by SIGKILL at random times, one time in "
        "five while it is starting, and senders repeat what was not answered with the same "
        "identifier; verdicts are given all the while. Features, decisions and alerts are compared bit for bit with a run over the "
        "same order in which nothing was killed."
    )
    return [(text, pd.DataFrame(rows))]


def _restart(found: dict[str, Any]) -> list[Part]:
    fill = found["fill"]
    rows = [
        {
            "": name,
            "seconds to ready": found[name]["seconds"],
            "memory, MiB": " + ".join(f"{each:,.0f}" for each in found[name]["memory MiB"]),
        }
        for name in ("without a snapshot", "with a snapshot")
        if name in found
    ]
    text = (
        f"A desk with {fill['rows']:,} transactions of 30 days in its ledger "
        f"({fill['bytes a row']:,.0f} bytes each, written in {fill['seconds']:,.0f} s) is started."
    )
    if "snapshot seconds" in found:
        text += f" Writing the snapshot took {found['snapshot seconds']:,.0f} s."
    return [(text, pd.DataFrame(rows))]


def _parity(found: dict[str, Any]) -> list[Part]:
    rows = [
        {"": name.replace("_", " "), "number": f"{number:,}"}
        for name, number in found["counts"].items()
    ]
    return [(found["text"], pd.DataFrame(rows))]
