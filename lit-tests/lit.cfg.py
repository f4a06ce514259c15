# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How the lit tests run. Each RUN line is bash, with pipefail (so "| grep -q" can
# fail by SIGPIPE: write "| grep > /dev/null"). Each test has a store
# ($R3_STORE = %t.store), a temporary folder ($TMPDIR = %t.tmpdir) and a
# ccache of its own, all empty at its start (so is %t, where it is a folder),
# and an environment without other R3_ variables.
#
# On PATH: r3, clang-r3 (of this build), FileCheck, not, opt, llvm-dis and the
# other tools of LLVM, clang++-22. Substitutions: %plugin, %cuda (flags that
# plain clang++-22 needs), %cudart (static CUDA runtime), %examples, %inputs,
# %source, %prefix, %clang, %cxx. Features: gpu, plugin, ccache, make.
import ctypes
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from private_places import PrivatePlacesTest  # noqa: E402


def has_gpu():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int(0)
        return (driver.cuInit(0) == 0
                and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
                and count.value > 0)
    except OSError:
        return False


config.name = "R3"
config.test_format = PrivatePlacesTest(execute_external=True)
config.suffixes = [".ll", ".cu", ".cpp", ".c", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))

# The environment is ours: nothing of the developer's leaks into a test.
inherited = {name: os.environ[name]
             for name in ("HOME", "USER", "LD_LIBRARY_PATH",
                          "CUDA_VISIBLE_DEVICES", "CUDA_PATH", "ASAN_OPTIONS",
                          "TSAN_OPTIONS", "UBSAN_OPTIONS")
             if name in os.environ}
# Before the system's folders: the build, and LLVM's unversioned tools.
path = [os.path.join(config.r3_prefix, "bin"), config.llvm_tools,
        os.path.dirname(config.clang), os.path.join(config.cuda, "bin"),
        os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")]
config.environment = dict(inherited, PATH=os.pathsep.join(path), LC_ALL="C",
                          LANG="C")

config.available_features.add("shell")
if has_gpu():
    config.available_features.add("gpu")
if config.r3_has_plugin:
    config.available_features.add("plugin")
else:
    # clang does not load a plugin built with sanitizers; what needs no plugin
    # is tested there by the unit tests.
    config.unsupported = True
for tool in ("ccache", "make", "ninja"):
    if shutil.which(tool):
        config.available_features.add(tool)

architecture = "sm_90"
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
        ("cudart", "-L%s -lcudart_static -ldl -lrt -pthread" % libraries),
        ("cudalib", libraries),
        ("cudapath", config.cuda),
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
        ("python", sys.executable)):
    config.substitutions.append(("%" + re.escape(name) + r"\b", text))

try:
    import psutil  # noqa: F401  lit needs it to end the children of a test
    lit_config.maxIndividualTestTime = 600
except ImportError:
    lit_config.note("python3-psutil is missing: no time limit for tests")
