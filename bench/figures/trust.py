# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of trust: what plain checks let through, what the gate costs."""
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass

from . import zoo
from .common import CannotRun, median


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


ROUNDED_REPLAYS = 16  # of a recording


@dataclass
class Example:
    """A kernel, arguments that are small enough for a CPU and for a gate of
    some seconds on a GPU, and an edit that is right and, where the kernel
    computes in floating point, rounds otherwise."""
    program: str
    arguments: list
    kernel: str
    before: str
    after: str
    on_gpu: tuple = ()


EXAMPLES = (
    Example("stencil3d", ["32", "4"], "stencil3d<double>",
            "AlongZ * (Below + Above)", "(AlongZ * Below + AlongZ * Above)", ("128", "10")),
    Example("nbody", ["300", "4"], "advance",
            "Inverse * Inverse * Inverse", "(Inverse * Inverse * Inverse)",
            ("4000", "10")),
    Example("spmv", ["500", "6"], "multiply",
            "int Offset = WarpSize / 2; Offset > 0; Offset /= 2",
            "int Offset = 1; Offset < WarpSize; Offset *= 2",
            ("50000", "10")),
    Example("histogram", ["20", "4"], "count",
            "Own[Four.x], 1u);\n    atomicAdd(&Own[Four.y]",
            "Own[Four.y], 1u);\n    atomicAdd(&Own[Four.x]", ("8000", "10")),
    Example("reduction", ["20", "4"], "reduce<Sum, double>",
            "int Distance = 16; Distance > 0; Distance /= 2",
            "int Distance = 1; Distance < 32; Distance *= 2",
            ("8000", "10")),
)


def gate_cost(setting):
    """ms of the gate for an edit of a kernel: all checks, and with times"""
    setting.require(setting.clang, setting.clang_r3)
    rows = {example.program: cost_of(setting, example)
            for example in EXAMPLES}
    return {"value": median([row["gate ms"] for row in rows.values()]),
            "limit": None,
            "pass": all(row["outcome"] == "ok" for row in rows.values()),
            "device": zoo.device(), "detail": rows}


def cost_of(setting, example):
    folder, store = recorded(setting, example)
    source = os.path.join(example.program, example.program + ".cu")
    with open(os.path.join(folder, source), encoding="utf-8") as file:
        text = file.read()
    if example.before not in text:
        raise CannotRun("nothing to edit in " + source)
    with open(os.path.join(folder, "mine.cu"), "w", encoding="utf-8") as file:
        file.write(text.replace(example.before, example.after, 1))

    def tried(store, *options):
        command = [setting.r3, "try", "mine.cu", "--as", source, "--json",
                   "-k", example.kernel, *options]
        begin = time.monotonic()
        ran = subprocess.run(
            command, cwd=folder, env=dict(setting.environment, **store),
            text=True, capture_output=True, check=False)
        spent = (time.monotonic() - begin) * 1000
        if not ran.stdout:
            raise CannotRun("failed: %s: %s" % (" ".join(command), ran.stderr))
        return json.loads(ran.stdout)["kernels"][0], spent

    found, gate = tried(store, "--batches", "0")
    _, timed = tried(store)
    if found["outcome"] != "ok":
        sys.stderr.write("%s: %s\n" % (found["name"], found["message"]))
    checks = found["evidence"]["checks"]
    # One launch alone, and nothing but its result looked at: what is rounded
    # then is known.
    one = record(setting, folder, example, "one", "-c", "1", "--classes", "1")
    replay = json.loads(setting.run(
        [setting.r3, "replay", example.kernel, "--json"],
        cwd=folder, add=one).stdout)["replays"][0]
    native = median(replay["originalNs"]) / 1e6
    plain, _ = tried(one, "--batches", "0", *zoo.without(
        check["check"] for check in checks))
    rounding = plain["evidence"]["milliseconds"].get("rounding")
    return {"kernel": found["name"], "outcome": found["outcome"],
            "recordings": len(found["evidence"]["recordings"]),
            "native ms": round(native, 3),
            "traced / native":
                round(replay["milliseconds"]["trace"] / native, 1),
            # Nothing where the results are the same bits.
            "rounded / native":
                rounding and round(rounding / ROUNDED_REPLAYS / native, 1),
            "gate ms": round(gate), "gate with times ms": round(timed),
            "checks ms": {check["check"]: round(check["milliseconds"], 1)
                          for check in checks if check["made"]}}


def recorded(setting, example):
    """A folder with the example, built, and a store, as environment."""
    folder = built(setting, example.program)
    return folder, record(setting, folder, example, ".r3")


def built(setting, program):
    """A folder with the example, built."""
    folder = os.path.join(setting.work, program)
    setting.run(["cp", "-rL", setting.examples, folder])
    setting.run([setting.r3, "init"], cwd=folder)
    setting.run(make(setting, os.path.join(folder, program)), cwd=folder)
    return folder


def make(setting, folder):
    return ["make", "-C", folder, "CXX=" + setting.clang_r3,
            "CUDA_PATH=" + setting.cuda] + arch_option()


def record(setting, folder, example, name, *options):
    store = {"R3_STORE": os.path.join(folder, name),
             "R3_DEVICE": zoo.device()}
    setting.run([setting.r3, "record", "-k", example.kernel.split("<")[0],
                 *options, "--",
                 os.path.join(folder, example.program, example.program)]
                + list(example.on_gpu if zoo.device() == "cuda"
                       else example.arguments),
                cwd=folder, add=store)
    return store


def arch_option():
    if zoo.device() != "cuda":
        return []
    from .gpu import architecture
    return ["ARCH=" + architecture()]
