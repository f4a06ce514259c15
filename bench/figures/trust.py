# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of trust: what plain checks let through, what the gate costs."""
import json
import os
import re
import subprocess
import sys

from .common import CannotRun, median


def zoo(setting):
    """Cheats and the kernel that each one edits."""
    folder = os.path.join(os.path.dirname(setting.bench), "lit-tests",
                          "Exploits")
    if not os.path.isdir(folder):
        raise CannotRun("no exploits in " + folder)
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".cuh"):
            with open(path, encoding="utf-8") as file:
                found = re.search(r"RUN: %try (\w+)", file.read())
            if found:
                yield path, found.group(1)


def device():
    return os.environ.get("R3_DEVICE", "cpu")


def tried(setting, edit, kernel, options):
    """How r3 try ends for an edit of the zoo's program: (outcome, message)."""
    flags = " ".join(setting.flags()[2:])
    script = os.path.join(os.path.dirname(setting.bench), "lit-tests",
                          "Exploits", "Inputs", "try.py")
    ran = subprocess.run(
        [sys.executable, script, os.path.join(setting.work, "zoo"), flags,
         " ".join(setting.libraries()), device(), edit, kernel] + options,
        env=setting.environment, text=True, capture_output=True, check=False)
    found = re.match(r"([\w-]+): (.*)", ran.stdout)
    if not found:
        sys.stderr.write(ran.stderr[-2000:])
        raise CannotRun("r3 try failed: " + edit)
    return found.groups()


def all_close(setting):
    """cheats of the zoo that an all-close check (1e-3) of fresh runs lets through"""
    setting.require(setting.clang, setting.clang_r3)
    checks = subprocess.run(
        [setting.r3, "try", "--without", "?", "--passes", "x"],
        env=setting.environment, text=True, capture_output=True,
        check=False).stderr
    plain = ["--tolerance", "1e-3"]
    for name in re.findall(r"[\w-]+", checks.partition("there are ")[2]):
        plain += ["--without", name]
    if len(plain) == 2:
        raise CannotRun("r3 try names no checks: " + checks)
    through, caught, never = [], [], []
    for path, kernel in zoo(setting):
        outcome, _ = tried(setting, path, kernel, plain)
        name = os.path.basename(path)[:-4]
        # What does not build, or may not be built, was never run.
        (through if outcome == "ok" else
         never if outcome in ("refused", "build-failed", "build-timeout",
                              "build-crashed", "duplicate") else
         caught).append(name)
    return {"value": len(through), "limit": None, "pass": True,
            "device": device(),
            "detail": {"through": through, "caught": len(caught),
                       "never run": len(never)}}


EXAMPLES = ("stencil3d", "nbody", "spmv", "histogram", "reduction")


def gate_cost(setting):
    """ms of the gate's verification of the hottest kernel of five examples"""
    setting.require(setting.clang, setting.clang_r3)
    rows = {}
    for name in EXAMPLES:
        rows[name] = cost_of(setting, name)
    return {"value": median([row["gate ms"] for row in rows.values()]),
            "limit": None, "pass": True, "device": device(), "detail": rows}


def cost_of(setting, name):
    folder = os.path.join(setting.work, name)
    store = {"R3_STORE": os.path.join(folder, ".r3"), "R3_DEVICE": device()}
    setting.run(["cp", "-rL", setting.examples, folder])
    setting.run([setting.r3, "init"], cwd=folder)
    setting.run(["make", "-C", os.path.join(folder, name),
                 "CXX=" + setting.clang_r3, "CUDA_PATH=" + setting.cuda]
                + arch_option(), cwd=folder)
    setting.run([setting.r3, "record", "--",
                 os.path.join(folder, name, name)], cwd=folder, add=store)
    listed = json.loads(setting.run([setting.r3, "list", "--json"],
                                    cwd=folder, add=store).stdout)
    kernel = next(k for k in listed["kernels"] if k["replayable"])
    ran = subprocess.run(
        [setting.r3, "try", "--passes", "default<O2>", "-k", kernel["key"],
         "--batches", "0", "--json"],
        cwd=folder, env=dict(setting.environment, **store), text=True,
        capture_output=True, check=False)
    found = json.loads(ran.stdout)["kernels"][0]
    evidence = found["evidence"]
    replays = json.loads(setting.run(
        [setting.r3, "replay", kernel["key"], "--json", "-n", "5"],
        cwd=folder, add=store).stdout)["replays"]
    native = median(replays[0]["originalNs"]) / 1e6
    checks = {check["check"]: round(check["milliseconds"], 2)
              for check in evidence["checks"] if check["made"]}
    steps = evidence["milliseconds"]
    return {"kernel": kernel["name"], "outcome": found["outcome"],
            "recordings": len(evidence["recordings"]),
            "native ms": round(native, 4),
            "traced / native": round(
                replays[0]["milliseconds"].get("trace", 0) / native, 1),
            "gate ms": round(sum(ms for step, ms in steps.items()
                                 if not step.startswith("check "))
                             + sum(checks.values()), 1),
            "checks ms": checks}


def arch_option():
    if device() != "cuda":
        return []
    from .gpu import architecture
    return ["ARCH=" + architecture()]
