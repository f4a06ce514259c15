# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The switch matrix: which cheats each check catches, and what becomes of them
without it. A cheat is tried with all checks; then without the one that caught
it; and so on, until it is accepted, or caught by what has no switch (results
that differ from the record, rules for sources). Where a cheat is accepted at
last, each check of its way was enough to catch it with the others off: such a
check matters."""
import collections
import sys

from . import zoo

# What cannot be made on a device.
NOT_HERE = {"cpu": {"sanitizer", "memcheck"}, "cuda": set()}
# No edit is known to reach what it looks at: a unit test changes that.
UNREACHED = {"pristine"}
# It has no verdict of its own: results that differ from the record show it.
SHOWN_BY_RESULTS = "poison"


def way(setting, cheat):
    """[check that caught it, with those before off], and how it ends."""
    caught = []

    def tried(*more):
        return zoo.tried(setting, cheat, cheat.options
                         + zoo.without(caught + list(more)))

    now = tried()
    while now.outcome != "ok":
        if now.check and now.check not in caught:
            caught.append(now.check)
            now = tried()
            continue
        if now.outcome != "wrong" or SHOWN_BY_RESULTS in caught:
            return caught, now.outcome
        then = tried(SHOWN_BY_RESULTS)
        if then.outcome == "wrong" and not then.check:
            return caught, now.outcome
        caught.append(SHOWN_BY_RESULTS)
        now = then
    return caught, "accepted"


def switches(setting):
    """checks that matter for no cheat of the zoo (the matrix goes to stderr)"""
    setting.require(setting.clang, setting.clang_r3)
    names = zoo.checks(setting)
    ways = {cheat.name: found for cheat, found in zoo.for_all(
        setting, lambda cheat: way(setting, cheat))}
    rows = {}
    for name in names:
        first = [caught for caught in ways.values() if caught[0][:1] == [name]]
        then = collections.Counter(
            (caught + [end])[1] for caught, end in first)
        rows[name] = {
            "caught": len(first), "accepted without": then.pop("accepted", 0),
            "then caught by": dict(then),
            "matters for": sorted(
                cheat for cheat, (caught, end) in ways.items()
                if name in caught and end == "accepted")}
    sys.stderr.write(table(rows))
    idle = [name for name, row in rows.items() if not row["matters for"]
            and name not in NOT_HERE[zoo.device()] | UNREACHED]
    return {"value": len(idle), "limit": 0, "pass": not idle,
            "device": zoo.device(),
            "detail": {"matter for none": idle, "checks": rows,
                       "ways": {cheat: caught + [end] for cheat,
                                (caught, end) in ways.items() if caught}}}


def table(rows):
    lines = ["%-12s %6s %8s %7s  %s\n" % ("CHECK", "CAUGHT", "ACCEPTED",
                                          "MATTERS", "THEN CAUGHT BY")]
    for name, row in rows.items():
        others = ", ".join("%s %d" % each for each
                           in sorted(row["then caught by"].items()))
        lines.append("%-12s %6d %8d %7d  %s\n" % (
            name, row["caught"], row["accepted without"],
            len(row["matters for"]), others or "-"))
    return "".join(lines)
