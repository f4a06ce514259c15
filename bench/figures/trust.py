# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of trust: what plain checks let through."""
from . import zoo


def all_close(setting):
    """cheats of the zoo that an all-close check (1e-3) of fresh runs lets through"""
    setting.require(setting.clang, setting.clang_r3)
    plain = ["--tolerance", "1e-3"] + zoo.without(zoo.checks(setting))

    def both(cheat):
        own = zoo.dropped("--tolerance", cheat.options)
        return (zoo.tried(setting, cheat, own + plain).outcome,
                zoo.tried(setting, cheat, cheat.options).outcome)

    found = {"through": [], "caught": [], "refused or not built": [],
             "through the gate": [], "of them known": []}
    for cheat, (close, gate) in zoo.for_all(setting, both):
        found["through" if close == "ok" else
              "refused or not built" if close in zoo.NEVER_RUN
              else "caught"].append(cheat.name)
        if gate == "ok":
            found["through the gate"].append(cheat.name)
            if cheat.known:
                found["of them known"].append(cheat.name)
    return {"value": len(found["through"]), "limit": None,
            "pass": found["through the gate"] == found["of them known"],
            "device": zoo.device(), "detail": found}
