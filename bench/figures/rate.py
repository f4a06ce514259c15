# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many variants a second a search evaluates, and what a bad one does."""
import json
import os
import statistics
import subprocess
import sys

from . import trust, zoo
from .common import CannotRun

COMPILERS = (1, 2, 4, 8, 16)  # of the first kernel, where there is time
LIMIT = {"cpu": 15, "cuda": 100}  # a second
CHEAPER = {"cpu": 0, "cuda": 50}  # than whole programs
SHARE = 0.7  # of what building alone or running alone reaches

# Kernels of at most 100 us on a GPU ("original's us"), and arguments for each
# device.
KERNELS = (
    ("stencil3d", "stencil3d<double>",
     {"cpu": ["8", "4"], "cuda": ["80", "10"]}),
    ("nbody", "advance", {"cpu": ["200", "4"], "cuda": ["2048", "10"]}),
    ("spmv", "multiply", {"cpu": ["50", "6"], "cuda": ["20000", "10"]}),
    ("histogram", "count", {"cpu": ["20", "4"], "cuda": ["1000", "10"]}),
    ("batchedgemm", "apply<8, float>",
     {"cpu": ["60", "4"], "cuda": ["2000", "10"]}),
)
# And one that is not.
LARGER = ("stencil3d", "stencil3d<double>",
          {"cpu": ["48", "4"], "cuda": ["320", "10"]})


def usable_cores():
    return len(os.sched_getaffinity(0))


def usual_compilers():
    """What a worker takes where it is not told."""
    cores = usable_cores()
    return cores - 1 if cores > 2 else cores


def rate(setting):
    """variants with a binary of their own that a search evaluates a second

    And how much cheaper that is than a rebuild of the unit alone and a run of
    the program, as many builds at once as there are compilers, while one runs.
    The program has its default arguments on a GPU, on the CPU device those of
    the recording.
    """
    setting.require(setting.clang, setting.clang_r3, program(setting, "rate"))
    rows, whole = {}, {}
    usual = usual_compilers()
    for name, kernel, arguments in KERNELS:
        folder, store = recorded(setting, name, kernel, arguments)
        counts = {usual}
        if not rows and setting.seconds > 1:
            counts |= {each for each in COMPILERS if each < usual}
        rows[name] = {each: measured(setting, "rate", folder, store, kernel,
                                     str(each), str(setting.seconds))
                      for each in sorted(counts)}
        whole[name] = whole_program(setting, name, folder, arguments,
                                    rows[name][usual]["distinct"])
    best = {name: max(row["distinct"]["evaluated a second"]
                      for row in by.values())
            for name, by in rows.items()}
    folder, store = recorded(setting, *LARGER, ".larger")
    larger = measured(setting, "rate", folder, store, LARGER[1],
                      str(usual), str(setting.seconds))
    share = (larger["distinct"]["variants a second"]
             / min(larger["built alone"], larger["run alone"]))
    cheaper = min(row["cheaper"] for row in whole.values())
    limit = LIMIT[zoo.device()]
    return {"value": round(min(best.values()), 1), "limit": limit,
            "pass": min(best.values()) >= limit and share >= SHARE
            and cheaper >= CHEAPER[zoo.device()],
            "device": zoo.device(),
            "detail": {"cores": usable_cores(), "best": best,
                       "larger, of building or running alone":
                           round(share, 2),
                       "cheaper than whole programs": cheaper,
                       "whole programs": whole,
                       "by compilers": rows, "larger": larger}}


def whole_program(setting, name, folder, arguments, ours):
    """What an evaluation of the whole program takes, beside one of ours."""
    place = os.path.join(folder, name)
    build, run = [], []
    for _ in range(setting.repeat):
        os.utime(os.path.join(place, name + ".cu"))
        build.append(setting.timed(trust.make(setting, place)))
        run.append(setting.timed(
            [os.path.join(place, name)]
            + (arguments["cpu"] if zoo.device() == "cpu" else []),
            cwd=place, add={"R3_DEVICE": zoo.device()}))
    build, run = statistics.median(build), statistics.median(run)
    whole = max(build / usual_compilers(), run)
    return {"build s": round(build, 3), "run s": round(run, 3),
            "evaluation ms": round(1000 / ours["variants a second"], 1),
            "of it ms": ours["ms of a variant"],
            "cheaper": round(whole * ours["variants a second"], 1)}


# How variants of a kind may end. The stack of a thread on a processor is only
# reserved: what is not touched of it does no harm.
ENDINGS = {
    "no-harm": {"ok"},
    "abort": {"build-crashed"},
    "hoard": {"build-crashed", "out-of-memory"},
    "spin": {"build-timeout"},
    "bad-asm": {"build-failed", "build-crashed"},
    "endless": {"timeout", "deadlock"},
    "wild": {"illegal-access", "out-of-bounds"},
    "deep": {"out-of-memory", "launch-failed"}
            if zoo.device() == "cuda" else {"ok"},
}


def search_faults(setting):
    """variants (--variants N) with planted faults that are not accounted for"""
    setting.require(setting.clang, setting.clang_r3,
                    program(setting, "search-faults"))
    name, kernel, arguments = KERNELS[3]
    folder, store = recorded(setting, name, kernel, arguments)
    before = memory_used(setting)
    found = measured(setting, "search-faults", folder, store, kernel,
                     str(setting.variants), str(usual_compilers()))
    leaked = memory_used(setting) - before
    named = sum(count for kind, endings in found["endings"].items()
                for ending, count in endings.items()
                if ending in ENDINGS[kind])
    clean = not (found["workers lost"] or found["processes left"]
                 or found["zombies left"] or leaked > 0)
    return {"value": setting.variants - named, "limit": 0,
            "pass": clean and named == setting.variants
            and found["state"] == "complete",
            "device": zoo.device(),
            "detail": dict(found, **{"leaked MiB": leaked})}


def memory_used(setting):
    """MiB of the first GPU; 0 where there is none."""
    if zoo.device() != "cuda":
        return 0
    return int(setting.run(
        ["nvidia-smi", "--query-gpu=memory.used",
         "--format=csv,noheader,nounits", "--id=0"]).stdout)


def recorded(setting, name, kernel, arguments, store=".r3"):
    """A folder with the example, built, and a store, as environment."""
    folder = os.path.join(setting.work, name)
    if not os.path.isdir(folder):
        trust.built(setting, name)
    store = {"R3_STORE": os.path.join(folder, store),
             "R3_DEVICE": zoo.device()}
    setting.run([setting.r3, "record", "-k", kernel.split("<")[0], "--",
                 os.path.join(folder, name, name)] + arguments[zoo.device()],
                cwd=folder, add=store)
    return folder, store


def program(setting, name):
    return os.path.join(setting.prefix, "faults", "libexec", "r3",
                        "r3-bench-" + name)


def measured(setting, name, folder, store, kernel, *numbers):
    command = [program(setting, name), store["R3_STORE"], zoo.device(), kernel,
               *numbers]
    ran = subprocess.run(command, cwd=folder, env=setting.environment,
                         text=True, stdout=subprocess.PIPE, check=False)
    if ran.returncode:
        raise CannotRun("failed: " + " ".join(command))
    sys.stderr.write(ran.stdout)
    return json.loads(ran.stdout)
