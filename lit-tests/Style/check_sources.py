# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Rules of the sources that a script can check:
#   - which part may include which (table below), and that includes are from
#     the repository's root and exist
#   - the licence line, and at most 600 lines, for each source
#   - getenv in one file, LLVM version checks in one file
#   check_sources.py ROOT
import os
import re
import sys

# Longest prefix counts: parts of R3 whose headers it may include, and which of
# the large foreign ones.
ALLOWED = {
    "runtime/support/": ("runtime/support/", "runtime/record/ImageAbi.h"),
    "runtime/device/": ("runtime/support/", "runtime/device/"),
    "runtime/device/cpu/": ("runtime/support/", "runtime/device/",
                            "runtime/record/ImageAbi.h",
                            "plugin/ir/", "plugin/instrument/",
                            "plugin/Compat.h", "llvm", "boost"),
    "runtime/record/": ("runtime/support/", "runtime/device/",
                        "runtime/record/"),
    "runtime/apply/": ("runtime/support/", "runtime/device/",
                       "runtime/apply/"),
    "plugin/": ("runtime/support/", "runtime/record/ImageAbi.h", "plugin/",
                "llvm"),
    "wrapper/clang-r3/": ("runtime/support/", "wrapper/clang-r3/"),
    "wrapper/trust/": ("runtime/support/", "wrapper/trust/"),
    "wrapper/replay/": ("runtime/support/", "runtime/device/",
                        "wrapper/replay/", "wrapper/trust/", "plugin/ir/",
                        "plugin/instrument/", "llvm"),
    "wrapper/remix/": ("runtime/support/", "wrapper/remix/", "wrapper/trust/",
                       "sqlite3.h", "curl/"),
    "wrapper/r3/": ("runtime/support/", "wrapper/r3/", "wrapper/remix/",
                    "wrapper/trust/", "CLI/"),
}
FOREIGN = {"llvm": r"(llvm|llvm-c|clang|lld)/", "boost": r"boost/",
           "sqlite3.h": r"sqlite3\.h", "curl/": r"curl/", "CLI/": r"CLI/"}
# Read by those whom the rule does not mean.
GETENV = {"runtime/support/Options.cpp",
          "runtime/record/Stub.c"}  # C, inside a user's program
VERSION = {"plugin/Compat.h"}
LIMIT = 600
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def rules_for(path):
    best = max((prefix for prefix in ALLOWED if path.startswith(prefix)),
               key=len, default=None)
    return ALLOWED.get(best)


def check_includes(root, path, text):
    allowed = rules_for(path)
    if allowed is None:
        yield "%s: no rule says what it may include" % path
        return
    for name in INCLUDE.findall(text):
        own = name.split("/")[0] in ("runtime", "plugin", "wrapper")
        if own:
            if not name.startswith(tuple(allowed)):
                yield "%s: may not include %s" % (path, name)
            elif not os.path.exists(os.path.join(root, name)):
                yield "%s: %s does not exist" % (path, name)
        for key, pattern in FOREIGN.items():
            if re.match(pattern, name) and key not in allowed:
                yield "%s: may not include %s" % (path, name)


def check_text(path, text):
    lines = text.split("\n")
    if not any("SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" in line
               for line in lines[:2]):
        yield "%s: no licence line" % path
    if len(lines) > LIMIT + 1 and not path.endswith(".def"):
        yield "%s: %d lines, %d are the limit" % (path, len(lines) - 1, LIMIT)
    if path.endswith((".cpp", ".h", ".c")) and not path.startswith("unittests"):
        if re.search(r"\bgetenv\s*\(", text) and path not in GETENV:
            yield "%s: getenv belongs into runtime/support/Options.cpp" % path
        if (re.search(r"^\s*#.*\bLLVM_VERSION_", text, re.M)
                and path not in VERSION):
            yield "%s: LLVM versions belong into plugin/Compat.h" % path


def sources(root):
    for part in ("runtime", "plugin", "wrapper", "unittests"):
        for where, folders, names in os.walk(os.path.join(root, part)):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".cpp", ".h", ".c", ".def", ".cu", ".cuh")):
                    yield os.path.relpath(os.path.join(where, name), root)


def main():
    root = sys.argv[1]
    problems, count = [], 0
    for path in sources(root):
        count += 1
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        problems += check_text(path, text)
        if not path.startswith("unittests"):
            problems += check_includes(root, path, text)
    print("\n".join(problems))
    print("%d sources, %d problems" % (count, len(problems)))
    sys.exit(1 if problems or not count else 0)


main()
