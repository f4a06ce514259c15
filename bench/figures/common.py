# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What figures share: where R3 and the toolkit are, running and timing."""
import functools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


class CannotRun(Exception):
    """The figure cannot be measured on this machine."""


class Setting:
    """The installation that is measured, and a folder to work in."""

    def __init__(self, prefix, bench, arguments):
        """Arguments: those of bench/run."""
        self.prefix, self.bench, self.data = prefix, bench, arguments.data
        self.repeat, self.searches = arguments.repeat, arguments.searches
        self.seconds, self.variants = arguments.seconds, arguments.variants
        self.examples = os.path.join(prefix, "share", "r3", "examples")
        self.clang_r3 = os.path.join(prefix, "bin", "clang-r3")
        self.r3 = os.path.join(prefix, "bin", "r3")
        self.clang = next((path for name in ("clang++-22", "clang++")
                           if (path := shutil.which(name))), None)

    def __enter__(self):
        self.work = tempfile.mkdtemp(prefix="r3-bench-")
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("R3_")
                            or name in ("R3_CLANG", "R3_DEVICE")}
        self.environment["PATH"] = (os.path.join(self.prefix, "bin") + ":"
                                    + os.environ["PATH"])
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.work, ignore_errors=True)

    @property
    def cuda(self):
        ptxas = shutil.which("ptxas")
        if ptxas:
            found = os.path.dirname(os.path.dirname(os.path.realpath(ptxas)))
            # The ptxas in PATH may be a script that stands elsewhere.
            if os.path.exists(os.path.join(found, "include", "cuda.h")):
                return found
        return "/usr/local/cuda"

    def require_gpu(self):
        if not gpu():
            raise CannotRun("needs a GPU")

    def device(self):
        return gpu() or "none (%d cores)" % os.cpu_count()

    def require(self, *programs):
        for program in programs:
            if not program or not (os.path.exists(program)
                                   or shutil.which(program)):
                raise CannotRun("%s is missing" % program)

    def flags(self, architecture="sm_90"):
        """What plain clang++ needs too, so that both compile the same."""
        flags = ["-std=c++17", "-O3", "--cuda-path=" + self.cuda,
                 "--cuda-gpu-arch=" + architecture,
                 "-Wno-unknown-cuda-version"]
        cccl = os.path.join(self.cuda, "include", "cccl")
        return flags + (["-idirafter", cccl] if os.path.isdir(cccl) else [])

    def libraries(self):
        return ["-L" + os.path.join(self.cuda, "lib64"), "-lcudart_static",
                "-ldl", "-lrt", "-lpthread"]

    def run(self, command, **more):
        """Runs to the end; an error says what failed, with its output."""
        more.setdefault("cwd", self.work)
        environment = dict(self.environment, **more.pop("add", {}))
        result = subprocess.run(command, env=environment, text=True,
                                capture_output=True, check=False, **more)
        if result.returncode:
            sys.stderr.write(result.stdout[-2000:] + result.stderr[-4000:])
            raise CannotRun("failed (%d): %s"
                            % (result.returncode, " ".join(command)))
        return result

    def timed(self, command, **more):
        """Seconds."""
        begin = time.monotonic()
        self.run(command, **more)
        return time.monotonic() - begin

    def units(self):
        """All sources of the examples, and the Thrust unit (last)."""
        found = []
        for where, folders, names in os.walk(self.examples, followlinks=True):
            folders.sort()
            found += [os.path.join(where, name) for name in sorted(names)
                      if name.endswith(".cu")]
        if not found:
            raise CannotRun("no examples in " + self.examples)
        return found + [os.path.join(self.bench, "thrust-sort",
                                     "thrust-sort.cu")]

    def include_flags(self, unit):
        return ["-I" + os.path.dirname(unit), "-I" + self.examples,
                "-I" + os.path.dirname(self.bench)]


@functools.cache
def gpu():
    """Name of the first GPU, or nothing."""
    try:
        return subprocess.run(
            ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
            capture_output=True, text=True, check=True
        ).stdout.split("\n")[0].strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def versions(setting):
    found = {}
    for name, command in (("clang", [setting.clang or "clang++", "--version"]),
                          ("r3", [setting.r3, "version"])):
        try:
            text = subprocess.run(command, capture_output=True, text=True,
                                  check=False).stdout
            found[name] = text.split("\n")[0].strip()
        except OSError:
            found[name] = "missing"
    try:
        with open(os.path.join(setting.cuda, "include", "cuda.h"),
                  encoding="utf-8", errors="replace") as header:
            number = next(int(line.split()[2]) for line in header
                          if line.startswith("#define CUDA_VERSION "))
        found["cuda"] = "%d.%d" % (number // 1000, number % 1000 // 10)
    except (OSError, StopIteration):
        found["cuda"] = "missing"
    return found


def median(values):
    return statistics.median(values)
