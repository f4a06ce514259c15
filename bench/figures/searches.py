# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A/A searches: does a search among equals end with a gain?"""
import concurrent.futures
import dataclasses
import os
import re
import subprocess
import sys

from . import trust, zoo
from .common import CannotRun

VARIANTS = 100  # of each search
MOST = 1        # that may be accepted
# A kernel that takes about a millisecond on a CPU.
EXAMPLE = dataclasses.replace(
    next(each for each in trust.EXAMPLES if each.program == "reduction"),
    kernel="update<double>")


def false_wins(setting):
    """A/A searches (--searches N, of 100 variants each) that end with a gain"""
    setting.require(setting.clang, setting.clang_r3)
    program = os.path.join(setting.prefix, "padding", "libexec", "r3",
                           "r3-bench-false-wins")
    if not os.path.exists(program):
        raise CannotRun("build the target r3-bench-false-wins first")
    folder, store = trust.recorded(setting, EXAMPLE)
    # Side by side where cores are many: each has seeds of its own.
    jobs = min(setting.searches,
               max(1, os.cpu_count() // (2 if zoo.device() == "cpu" else 3)))
    shares = [setting.searches // jobs + (job < setting.searches % jobs)
              for job in range(jobs)]

    def search(job):
        return lines_of([program, store["R3_STORE"], zoo.device(),
                         str(shares[job]), str(VARIANTS), str(job + 1),
                         EXAMPLE.kernel],
                        cwd=folder, env=setting.environment)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        counts = [[int(number) for number in re.findall(r"=(\d+)", said[-1])]
                  for said in pool.map(search, range(jobs))]
    searches, gated, accepted = (sum(each) for each in zip(*counts))
    return {"value": accepted, "limit": MOST, "pass": accepted <= MOST,
            "device": zoo.device(),
            "detail": {"searches": searches, "variants": VARIANTS,
                       "went through the gate": gated,
                       "share, at most (95 %)":
                           round(upper_bound(accepted, searches), 4)}}


def lines_of(command, **more):
    """What a command prints, which also goes to stderr as it comes."""
    said = []
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                          **more) as ran:
        for line in ran.stdout:
            sys.stderr.write(line)
            sys.stderr.flush()
            said.append(line)
    if ran.returncode:
        raise CannotRun("failed: " + " ".join(command))
    return said


def upper_bound(found, of, error=0.05):
    """The share under which so few have a chance of 5 % (Clopper, Pearson)."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        term, chance = (1 - middle) ** of, 0.0
        for count in range(found + 1):
            chance += term
            term *= (of - count) / (count + 1) * middle / (1 - middle)
        low, high = (middle, high) if chance > error else (low, middle)
    return high
