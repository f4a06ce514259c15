# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How the lit tests run. Each RUN line is bash, with pipefail (so "| grep -q" can
# fail by SIGPIPE: write "| grep > /dev/null"). Each test has a store
# ($R3_STORE = %t.store), a temporary folder ($TMPDIR = %t.tmpdir) and a
# ccache of its own, all empty at its start (so is %t, where it is a folder),
# and an environment without other R3_ variables.
#
# The tests run on the CPU device; those that name %device run once more on a GPU,
# in a suite of their own (BUILD/gpu-tests), which is unsupported where there is
# none. The folder Gpu/ belongs to that suite alone.
#
# On PATH: r3, clang-r3 (of this build), FileCheck, not, opt, llvm-dis and the
# other tools of LLVM, clang++-22. Substitutions: %plugin (%r3plugin in tests
# that `r3 export-test` wrote), %cuda (flags that plain clang++-22 needs), %cudart
# (static CUDA runtime), %examples, %inputs, %source, %prefix, %clang, %cxx, %lit,
# %device (cpu or cuda; as a FileCheck prefix it tells what differs). Features:
# gpu, plugin, ccache, make.
import ctypes
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from private_places import PrivatePlacesTest, one_fault_at_a_time  # noqa: E402


def gpu_architecture():
    """sm_XY of the first GPU; nothing where there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return ""
    handle, major, minor = (ctypes.c_int(0) for _ in range(3))
    if (driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(handle), 0)
            or driver.cuDeviceGetAttribute(ctypes.byref(major), 75, handle)
            or driver.cuDeviceGetAttribute(ctypes.byref(minor), 76, handle)):
        return ""
    return "sm_%d%d" % (major.value, minor.value)


device = config.r3_device
config.name = "R3" if device == "cpu" else "R3 on a GPU"
config.test_format = PrivatePlacesTest(execute_external=True, only_with=config.r3_only_with)
config.suffixes = [".ll", ".cu", ".cpp", ".c", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
if device == "cpu":
    config.excludes.append("Gpu")
config.test_source_root = os.path.dirname(os.path.abspath(__file__))

# The environment is ours: nothing of the developer's leaks into a test.
inherited = {name: os.environ[name]
             for name in ("HOME", "USER", "LD_LIBRARY_PATH",
                          "CUDA_VISIBLE_DEVICES", "ASAN_OPTIONS",
                          "TSAN_OPTIONS", "UBSAN_OPTIONS")
             if name in os.environ}
# Before the system's folders: the build, and LLVM's unversioned tools.
path = [os.path.join(config.r3_prefix, "bin"), config.llvm_tools,
        os.path.dirname(config.clang), os.path.join(config.cuda, "bin"),
        os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")]
config.environment = dict(inherited, PATH=os.pathsep.join(path), LC_ALL="C",
                          LANG="C", CUDA_PATH=config.cuda)

config.available_features.add("shell")
architecture = "sm_90"
if device == "cuda" and gpu_architecture():
    config.available_features.add("gpu")
    architecture = gpu_architecture()
    config.environment["ARCH"] = architecture  # of the examples' Makefiles
    # Tests beside each other: a fault of one stalls the launches of all.
    config.environment["R3_LAUNCH_DEADLINE"] = "4s"
    lit_config.parallelism_groups["faults"] = 1
    config.parallelism_group = one_fault_at_a_time
elif device == "cuda":
    config.unsupported = True
if config.r3_has_plugin:
    config.available_features.add("plugin")
else:
    # clang does not load a plugin built with sanitizers; what needs no plugin
    # is tested there by the unit tests.
    config.unsupported = True
for tool in ("ccache", "make", "ninja"):
    if shutil.which(tool):
        config.available_features.add(tool)

cuda_flags = ("--cuda-path=%s --cuda-gpu-arch=%s -Wno-unknown-cuda-version"
              % (config.cuda, architecture))
libraries = next((folder for folder in
                  (os.path.join(config.cuda, name)
                   for name in ("lib64", "lib", "targets/x86_64-linux/lib"))
                  if os.path.exists(os.path.join(folder,
                                                 "libcudart_static.a"))),
                 os.path.join(config.cuda, "lib64"))
for name, text in (
        ("plugin", os.path.join(config.r3_prefix, "lib", "libR3.so")),
        ("r3plugin", os.path.join(config.r3_prefix, "lib", "libR3.so")),
        ("cudart", "-L%s -lcudart_static -ldl -lrt -pthread" % libraries),
        ("cudalib", libraries),
        ("cudapath", config.cuda),
        ("device", device),
        ("cuda", cuda_flags),
        ("examples", getattr(config, "r3_examples", os.path.join(
            config.r3_source, "share", "examples"))),
        ("inputs", os.path.join(config.test_source_root, "Inputs")),
        ("source", config.r3_source),
        ("prefix", config.r3_prefix),
        ("llvminclude", os.path.join(os.path.dirname(config.llvm_tools),
                                     "include")),
        ("clang", config.clang),
        ("cxx", config.cxx),
        ("lit", config.lit),
        ("python", sys.executable)):
    config.substitutions.append(("%" + re.escape(name) + r"\b", text))

try:
    import psutil  # noqa: F401  lit needs it to end the children of a test
    lit_config.maxIndividualTestTime = 600
except ImportError:
    lit_config.note("python3-psutil is missing: no time limit for tests")
