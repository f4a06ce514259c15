# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every header compiles alone, in whatever order it is included. A header that
# is the first include of its own source (A.h of A.cpp) has been compiled so by
# the build; the others are compiled here.
#   check_headers.py ROOT STAMP COMPILER FLAGS...
# STAMP keeps the digest of all headers of the last run that passed, so that a
# run in which none has changed is over at once.
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys

root, stamp = sys.argv[1:3]
command = sys.argv[3:]


def headers():
    for part in ("runtime", "plugin", "wrapper"):
        for where, folders, names in os.walk(os.path.join(root, part)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".h"):
                    yield os.path.join(where, name)


def is_first_of_its_source(path):
    source = path[:-2] + ".cpp"
    if not os.path.exists(source):
        return False
    with open(source, encoding="utf-8") as file:
        first = re.search(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', file.read(),
                          re.M)
    return bool(first) and os.path.join(root, first.group(1)) == path


def compile_alone(path):
    """The first error, or nothing."""
    with open(path, encoding="utf-8") as file:
        language = "c" if "#ifdef __cplusplus" in file.read() else "c++"
    # What C includes has to compile as C++ too.
    for name in {language, "c++"}:
        standard = "-std=gnu11" if name == "c" else "-std=c++20"
        result = subprocess.run(
            command + ["-x", name, standard, "-fsyntax-only", "-I", root,
                       "-include", path, "/dev/null"],
            capture_output=True, text=True, check=False)
        if result.returncode:
            lines = result.stderr.strip().split("\n")
            first = next((one for one in lines if "error:" in one), lines[0])
            return "%s: %s" % (os.path.relpath(path, root), first)
    return None


def main():
    every = list(headers())
    found = [path for path in every if not is_first_of_its_source(path)]
    digest = hashlib.sha256(" ".join(command).encode())
    for path in found:
        with open(path, "rb") as file:
            digest.update(path.encode() + file.read())
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == digest.hexdigest():
                print("%d headers have not changed" % len(found))
                return 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [one for one in pool.map(compile_alone, found) if one]
    print("\n".join(problems))
    print("%d headers, %d compiled here, %d do not compile alone"
          % (len(every), len(found), len(problems)))
    if not problems and every:
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(digest.hexdigest())
    return 1 if problems or not every else 0


sys.exit(main())
