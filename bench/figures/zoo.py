# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The zoo's cheats (lit-tests/Exploits), tried with any choice of checks."""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field

from .common import CannotRun, gpu

# How the edits end that rules for sources, or a compiler, keep from running.
NEVER_RUN = ("refused", "build-failed", "build-timeout", "build-crashed",
             "duplicate")


@dataclass
class Cheat:
    """One file, and how its first line that is for this device tries it."""
    name: str
    path: str
    kernel: str
    options: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    known: bool = False  # accepted today, and its file says so


@dataclass
class Verdict:
    outcome: str
    message: str
    check: str  # that gave it, "" where none did


def device():
    """What kernels run on: R3_DEVICE; where it says nothing, a GPU if any."""
    return os.environ.get("R3_DEVICE") or ("cuda" if gpu() else "cpu")


def cheats(setting):
    folder = os.path.join(os.path.dirname(setting.bench), "lit-tests",
                          "Exploits")
    if not os.path.isdir(folder):
        raise CannotRun("no exploits in " + folder)
    found = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".cuh"):
            cheat = read(os.path.join(folder, name))
            if cheat:
                found.append(cheat)
    return found


def read(path):
    """The cheat of a file, or nothing where it is not one on this device."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    gpu = device() == "cuda"
    if gpu and re.search(r"UNSUPPORTED: gpu", text):
        return None
    for line in re.findall(r"RUN: (.*%try .*)", text):
        only = re.search(r"%if (!?)gpu", line)
        if only and (only.group(1) == "") != gpu:
            continue
        before, _, after = line.partition("%try ")
        kernel, *options = shlex.split(re.split(r" \||%}", after)[0])
        expected = re.search(r"XFAIL: (\S+)", text)
        return Cheat(os.path.basename(path)[:-4], path, kernel,
                     dropped("--without", options),
                     dict(re.findall(r"(R3_\w+)=(\S+)", before)),
                     bool(expected)
                     and expected.group(1) in ("*", "gpu" if gpu else "!gpu"))
    raise CannotRun("no line tries the edit of " + path)


def dropped(name, options):
    """The options, but those of this name and their values."""
    return [each for at, each in enumerate(options)
            if name not in options[max(at - 1, 0):at + 1]]


def checks(setting):
    """The names of all that can be left out, in their order."""
    tried(setting, cheats(setting)[0], [])  # so that there is a store
    said = subprocess.run(
        [setting.r3, "try", "--without", "?", "--passes", "x"],
        env=dict(setting.environment, R3_DEVICE=device()), text=True,
        capture_output=True, check=False,
        cwd=os.path.join(setting.work, "zoo")).stderr
    names = re.findall(r"[\w-]+", said.partition("there are ")[2])
    if not names:
        raise CannotRun("r3 try names no checks: " + said)
    return names


def without(names):
    return [part for name in names for part in ("--without", name)]


def tried(setting, cheat, options):
    """How r3 try ends for a cheat."""
    script = os.path.join(os.path.dirname(cheat.path), "Inputs", "try.py")
    ran = subprocess.run(
        [sys.executable, script, os.path.join(setting.work, "zoo"),
         " ".join(setting.flags()[2:]), " ".join(setting.libraries()),
         device(), cheat.path, cheat.kernel, "--json"] + options,
        env=dict(setting.environment, **cheat.environment), text=True,
        capture_output=True, check=False)
    if not ran.stdout.startswith("["):
        sys.stderr.write(ran.stderr[-2000:])
        raise CannotRun("r3 try failed: " + cheat.name)
    said = json.loads(ran.stdout)[0]
    gave = [each["check"] for each in said["evidence"]["checks"]
            if each["made"] and each["outcome"] != "ok"]
    return Verdict(said["outcome"], said["message"], gave[-1] if gave else "")


def for_all(setting, work):
    """[(cheat, work(cheat))], on all cores; on a GPU no more than eight at a
    time, since a fault in one process stalls the others."""
    them = cheats(setting)
    cores = os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(
            cores if device() == "cpu" else min(cores, 8)) as pool:
        return list(zip(them, pool.map(work, them)))
