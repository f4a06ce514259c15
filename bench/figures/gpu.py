# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures that need a GPU: overhead, recording, replay, recovery."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import time

from .common import CannotRun, median

GIB = 1 << 30


def build(setting, name):
    """Builds bench/programs/NAME.cu; the path of the program."""
    setting.require_gpu()
    setting.require(setting.clang, setting.clang_r3)
    source = os.path.join(setting.bench, "programs", name + ".cu")
    path = os.path.join(setting.work, name)
    setting.run([setting.clang_r3] + setting.flags(architecture())
                + [source, "-o", path] + setting.libraries())
    return path


def architecture():
    text = subprocess.run(
        ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"],
        capture_output=True, text=True, check=False).stdout
    return "sm_" + text.split("\n")[0].strip().replace(".", "")


def numbers(pattern, text):
    return [float(found) for found in re.findall(pattern, text, re.M)]


def in_store(setting, name):
    """A fresh store, as additions to the environment."""
    path = os.path.join(setting.work, name)
    shutil.rmtree(path, ignore_errors=True)
    return {"R3_STORE": path}


def stored_bytes(store):
    return sum(os.path.getsize(os.path.join(where, name))
               for where, _, names in os.walk(os.path.join(store, "packs"))
               for name in names)


def launch_overhead(setting):
    """time of an empty launch, instrumented and not recording / plain"""
    setting.require_gpu()
    setting.require(setting.clang, setting.clang_r3)
    source = os.path.join(setting.bench, "programs", "launches.cu")
    objects = []
    for name, compiler, more in (("plainLaunches", setting.clang, []),
                                 ("ourLaunches", setting.clang_r3, ["-DMAIN"])):
        objects.append(os.path.join(setting.work, name + ".o"))
        setting.run([compiler] + setting.flags(architecture()) + more
                    + ["-DLAUNCHES=" + name, "-c", source, "-o", objects[-1]])
    program = os.path.join(setting.work, "launches")
    setting.run([setting.clang_r3] + objects + ["-o", program]
                + setting.libraries())
    ratios, times = [], []
    for _ in range(setting.repeat):
        text = setting.run([program, "20000", "17"]).stdout
        found = [[float(each) for each in pair] for pair in re.findall(
            r"^plain ([\d.]+) ns ours ([\d.]+) ns", text, re.M)]
        ratios.append(median([ours / plain for plain, ours in found]))
        times += [plain for plain, _ in found]
    ratio = median(ratios)
    return {"value": round(ratio, 4), "limit": 1.03, "pass": ratio <= 1.03,
            "detail": {"launches of each": setting.repeat * 17 * 20000,
                       "ns plain": round(median(times), 1),
                       "by process": [round(each, 4) for each in ratios]}}


def pause_of(setting, program, size, changed, wait):
    """Milliseconds that one record held the program, and the pinned rate."""
    result = setting.run([setting.r3, "record", "-k", "touch", "-c", "1",
                          "--limit", "20GB", "--", program, str(size), "12",
                          str(changed), "random", str(wait)],
                         add=in_store(setting, "pause"))
    steps = numbers(r"^step \d+ ([\d.]+) ms", result.stdout)
    rate = numbers(r"^rate ([\d.]+) GB/s", result.stdout)[0]
    return max(steps) - median(steps), rate


def record_pause(setting):
    """pause of the program for a record / bytes recorded over 0.6 x pinned rate

    Bytes recorded: the footprint before, and the tenth of it that the launch
    changes. The program launches 5 s after it allocated, as one does that reads
    its input; the pause of one that launches at once is in the detail (pinned
    staging memory is then still being made).
    """
    program = build(setting, "footprint")
    size, changed = 4096, 10
    pause, rate = pause_of(setting, program, size, changed, 5000)
    cold, _ = pause_of(setting, program, size, changed, 0)
    allowed = size * (1 + changed / 100) * (1 << 20) / (0.6 * rate * 1e6)
    return {"value": round(pause / allowed, 3), "limit": 1.0,
            "pass": pause <= allowed,
            "detail": {"pause ms": round(pause, 1),
                       "allowed ms": round(allowed, 1), "rate GB/s": rate,
                       "pause ms, launched at once": round(cold, 1)}}


def plain_write(folder, total, writers=8):
    """Seconds that WRITERS threads need for TOTAL bytes, with fsync."""
    block = os.urandom(16 << 20)

    def write(number):
        path = os.path.join(folder, "plain-%d" % number)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for _ in range(total // writers // len(block)):
            os.write(descriptor, block)
        os.fsync(descriptor)
        os.close(descriptor)
        os.unlink(path)

    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))
    return time.monotonic() - begin


def store_rate(setting):
    """rate of storing records / a plain parallel write of the same bytes"""
    program = build(setting, "footprint")
    arguments = [program, "8192", "2", "100", "random"]
    store = in_store(setting, "rate")
    before = plain_write(setting.work, 16 * GIB)
    plain = setting.timed(arguments)
    recorded = setting.timed([setting.r3, "record", "-k", "touch", "-c", "1",
                                "--limit", "40GB", "--"] + arguments, add=store)
    size = stored_bytes(store["R3_STORE"])
    shutil.rmtree(store["R3_STORE"])
    # Before and after: disks that others share drift by a fifth in a minute.
    wanted = (before + plain_write(setting.work, size)) / 2
    ratio = wanted / max(recorded - plain, 1e-9)
    return {"value": round(ratio, 3), "limit": 0.8, "pass": ratio >= 0.8,
            "detail": {"bytes": size, "record s": round(recorded, 2),
                       "plain run s": round(plain, 2),
                       "plain write s": round(wanted, 2)}}


def record_growth(setting):
    """store / footprint of 50 recordings in which 2 % changes a step"""
    program = build(setting, "footprint")
    store = in_store(setting, "growth")
    setting.run([setting.r3, "record", "-k", "touch", "-c", "50", "--classes",
                 "1", "--limit", "20GB", "--", program, "1024", "60", "2",
                 "random"], add=store)
    count = sum(len(names) for _, _, names in os.walk(
        os.path.join(store["R3_STORE"], "recordings")))
    ratio = stored_bytes(store["R3_STORE"]) / GIB
    return {"value": round(ratio, 3), "limit": 3.0,
            "pass": ratio < 3.0 and count >= 50,
            "detail": {"recordings": count}}


def example_program(setting, name):
    folder = os.path.join(setting.work, "examples")
    if not os.path.isdir(folder):
        shutil.copytree(setting.examples, folder)
    setting.run(["make", "-C", os.path.join(folder, name),
                 "CXX=" + setting.clang_r3, "ARCH=" + architecture(),
                 "CUDA_PATH=" + setting.cuda])
    return os.path.join(folder, name, name)


def record_time(setting):
    """wall time of a recording run with default limits / a plain run over 20 s"""
    setting.require_gpu()
    program = example_program(setting, "stencil3d")
    begin = setting.timed([program, "320", "200"])
    more = setting.timed([program, "320", "700"])
    step = max((more - begin) / 500, 1e-6)
    fixed = begin - 200 * step
    steps = str(max(200, int((25 - fixed) / step)))
    plain = setting.timed([program, "320", steps])
    recorded = setting.timed([setting.r3, "record", "--", program, "320",
                                steps], add=in_store(setting, "time"))
    return {"value": round(recorded / plain, 3), "limit": 1.25,
            "pass": recorded <= 1.25 * plain and plain > 20,
            "detail": {"plain s": round(plain, 2),
                       "recording s": round(recorded, 2)}}


def replay_reproduce(setting):
    """recorded kernels of the examples that do not reproduce"""
    setting.require_gpu()
    bad, total, detail = 0, 0, {}
    for name in sorted(os.listdir(setting.examples)):
        if not os.path.exists(os.path.join(setting.examples, name, "Makefile")):
            continue
        program = example_program(setting, name)
        store = in_store(setting, "reproduce")
        setting.run([setting.r3, "record", "--", program], add=store)
        try:
            text = setting.run([setting.r3, "replay", "--json"], add=store)
            replays = json.loads(text.stdout)["replays"]
        except CannotRun as why:
            replays, detail[name] = [{"outcome": "failed"}], str(why)
        wrong = [one for one in replays if one["outcome"] != "ok"]
        total, bad = total + len(replays), bad + len(wrong)
        detail.setdefault(name, "%d of %d" % (len(replays) - len(wrong),
                                              len(replays)))
    if not total:
        raise CannotRun("nothing was recorded")
    return {"value": bad, "limit": 0, "pass": bad == 0, "detail": detail}


def addresses(setting):
    """starts, of 20 each at 1, 16 and 64 GiB, that did not get their addresses"""
    program = build(setting, "footprint")
    failed, detail = 0, {}
    for size in (1, 16, 64):
        store = in_store(setting, "addresses")
        setting.run([setting.r3, "record", "-k", "touch", "-c", "1", "--limit",
                     "100GB", "--", program, str(size * 1024), "2", "1",
                     "zero"], add=store)
        lost = 0
        for _ in range(20):
            try:
                setting.run([setting.r3, "replay", "-n", "1"], add=store)
            except CannotRun:
                lost += 1
        detail["%d GiB" % size] = "%d of 20" % (20 - lost)
        failed += lost
        shutil.rmtree(store["R3_STORE"])
    return {"value": failed, "limit": 0, "pass": failed == 0, "detail": detail}


def respawn(setting):
    """ms until the worker is back after a fault, at 16 GiB: the worst"""
    program = build(setting, "faults")
    store = in_store(setting, "respawn")
    setting.run([setting.r3, "record", "--min-share", "0", "-c", "1", "--limit",
                 "100GB", "--closure", "all", "--", program, "16384"],
                add=store)
    tool = os.path.join(setting.prefix, "libexec", "r3", "r3-bench-respawn")
    setting.require(tool)
    text = setting.run([tool, store["R3_STORE"], "cuda"], add=store).stdout
    found = re.findall(r"^(.+) (\S+) (-?[\d.]+)$", text, re.M)
    times = [float(one[2]) for one in found]
    bad = [one for one in found if one[1] == "ok"]
    if len(found) < 4 or bad:
        return {"value": None, "limit": 1000, "pass": False,
                "detail": "a fault did not happen: " + text.strip()}
    return {"value": max(times), "limit": 1000, "pass": max(times) <= 1000,
            "detail": text.strip().split("\n")}
