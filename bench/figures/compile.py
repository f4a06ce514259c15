# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of the compiler: time, size of objects, and what is built again."""
import os
import re
import subprocess

from .common import CannotRun, median

BUILD_TIME_LIMIT = 1.15
THRUST_SIZE_LIMIT = 1.3
ADDED_BYTES_LIMIT = 8 * 1024


def compile_command(setting, compiler, unit, output):
    return ([compiler] + setting.flags() + setting.include_flags(unit)
            + ["-c", unit, "-o", output])


def build_time(setting):
    """wall time of clang-r3 / clang++ over the examples and a Thrust unit"""
    setting.require(setting.clang, setting.clang_r3)
    plain, ours, detail = 0.0, 0.0, {}
    for unit in setting.units():
        times = {setting.clang: [], setting.clang_r3: []}
        for _ in range(setting.repeat):  # interleaved
            for compiler, taken in times.items():
                taken.append(setting.timed(
                    compile_command(setting, compiler, unit, "x.o")))
        one, other = (median(taken) for taken in times.values())
        plain, ours = plain + one, ours + other
        detail[os.path.basename(unit)] = [round(one, 3), round(other, 3)]
    ratio = ours / plain
    return {"value": round(ratio, 3), "limit": BUILD_TIME_LIMIT,
            "pass": ratio <= BUILD_TIME_LIMIT,
            "detail": {"seconds plain, r3": detail}}


def section_bytes(setting, path):
    """Bytes of the embedded units in an object."""
    folder = os.path.dirname(os.path.realpath(setting.clang))
    tool = os.path.join(folder, "llvm-readelf")
    if not os.path.exists(tool):
        tool = "readelf"
    text = setting.run([tool, "-SW", path]).stdout
    sizes = [int(line.split("]")[1].split()[4], 16)
             for line in text.split("\n")
             if re.search(r"\]\s+\.r3\.unit\.", line)]
    if not sizes:
        raise CannotRun(path + ": holds no unit of R3")
    return sum(sizes)


def object_size(setting):
    """size of the Thrust unit's object, r3 / plain; the examples' growth"""
    setting.require(setting.clang, setting.clang_r3)
    detail, worst, ratio = {}, 0, 0.0
    for unit in setting.units():
        sizes = []
        for compiler in (setting.clang, setting.clang_r3):
            path = os.path.join(setting.work, "x.o")
            setting.run(compile_command(setting, compiler, unit, path))
            sizes.append(os.path.getsize(path))
        module = section_bytes(setting, path)
        added = sizes[1] - sizes[0] - module
        detail[os.path.basename(unit)] = {
            "plain": sizes[0], "r3": sizes[1], "module": module,
            "added": added}
        ratio = sizes[1] / sizes[0]  # the last one is the Thrust unit
        if unit != setting.units()[-1]:
            worst = max(worst, added)
    return {"value": round(ratio, 3), "limit": THRUST_SIZE_LIMIT,
            "pass": ratio <= THRUST_SIZE_LIMIT and worst <= ADDED_BYTES_LIMIT,
            "detail": {"most bytes added to an example beside its module":
                       worst, "limit of that": ADDED_BYTES_LIMIT,
                       "units": detail}}


def twice_built(setting):
    """builds by make and ninja, with and without ccache, that did too much or too little"""
    setting.require(setting.clang_r3, "make", "ninja")
    root = os.path.dirname(setting.bench)
    script = os.path.join(root, "lit-tests", "Wrapper", "Inputs", "builds.sh")
    if not os.path.exists(script):
        raise CannotRun(script + " is missing")
    detail, wrong = {}, 0
    for tool in ("make", "ninja"):
        for launcher in ("", "ccache"):
            name = (tool + " " + launcher).strip()
            try:
                if launcher:
                    setting.require(launcher)
            except CannotRun as why:
                detail[name] = str(why)
                continue
            result = subprocess.run(
                ["bash", script, os.path.join(setting.work, name.replace(" ", "-")),
                 os.path.join(os.path.dirname(script), "files"), tool,
                 launcher], text=True, capture_output=True, check=False,
                env=dict(setting.environment,
                         CCACHE_DIR=os.path.join(setting.work, "ccache")))
            detail[name] = result.stdout.strip() or "ok"
            wrong += result.returncode != 0
    return {"value": wrong, "limit": 0, "pass": wrong == 0, "detail": detail}
