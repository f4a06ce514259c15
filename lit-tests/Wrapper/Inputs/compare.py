# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs command lines with clang++ and with clang-r3, each in a folder of its
# own with the same files, and compares exit code, both outputs and the files
# that are there afterwards.
#   compare.py FILES COMMANDS WORK CUDA-FLAGS...
# COMMANDS: one command line each line, for a shell, with $CXX for the
# compiler. "cuda:" in front: clang++ gets CUDA-FLAGS as well, since clang-r3
# adds them by itself. "same:" in front: produced files are equal byte for byte
# (else their names are compared).
import concurrent.futures
import difflib
import filecmp
import os
import re
import shutil
import subprocess
import sys

files, commands, work = sys.argv[1:4]
cuda_flags = sys.argv[4:]

# What clang-r3 adds shows in -v and -###; temporary names differ by nature.
ADDED = (r'"?-fpass-plugin=[^ "]*"? ?|"?-fno-crash-diagnostics"? ?'
         r'|"?-Wno-unknown-cuda-version"? ?')
TEMPORARY = r"/[^ \"']*/(tmp[^ \"']*/)?([\w.+-]+)-[0-9a-f]{6}(\.[\w]+)"


def normal(text, folder):
    text = text.replace(folder, "FOLDER")
    text = re.sub(ADDED, "", text)
    text = re.sub(TEMPORARY, r"TMP/\2\3", text)
    text = re.sub(r"-cuid=[0-9a-f]+", "-cuid=X", text)
    text = re.sub(r"Compile time = [\d.]+ ms", "Compile time = X ms", text)
    # The linker finds a missing cudart in another function: R3's shim.
    text = re.sub(r"(?m)^.*(undefined reference to|in function `).*\n", "", text)
    return text


def run(line, compiler, folder, flags):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(files, folder)
    environment = dict(os.environ, CXX=" ".join([compiler] + flags))
    return subprocess.run(["bash", "-c", line], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace")


def listing(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, _, names in os.walk(folder) for name in names)


def compare(number, line):
    kind, _, command = line.partition(":")
    kinds = kind.split("+")
    if not set(kinds) <= {"cuda", "same", "plain"}:
        return "%s: no such kind" % line
    flags = cuda_flags if "cuda" in kinds else []
    # One after the other in one folder: names in outputs are the same.
    folder = os.path.join(work, str(number), "x")
    results = []
    for compiler, own in (("clang++-22", flags), ("clang-r3", [])):
        result = run(command, compiler, folder, own)
        kept = os.path.join(work, str(number), compiler)
        shutil.rmtree(kept, ignore_errors=True)
        os.rename(folder, kept)
        results.append((kept, result))
    (kept1, first), (kept2, second) = results
    problems = []
    for what in ("returncode", "stdout", "stderr"):
        before, after = getattr(first, what), getattr(second, what)
        if what != "returncode":
            before, after = (normal(text, folder) for text in (before, after))
        if before != after:
            problems.append("%s: clang++ - and clang-r3 +" % what)
            problems += difflib.unified_diff(
                str(before).split("\n"), str(after).split("\n"), n=0,
                lineterm="")
    before, after = listing(kept1), listing(kept2)
    if before != after:
        problems.append("files: clang++ %s, clang-r3 %s" % (before, after))
    elif "same" in kinds:
        problems += ["%s differs" % name for name in before
                     if not filecmp.cmp(os.path.join(kept1, name),
                                        os.path.join(kept2, name), False)]
    return "\n  ".join([command] + problems) if problems else None


def main():
    with open(commands, encoding="utf-8") as lines:
        table = [line.strip() for line in lines
                 if line.strip() and not line.startswith("#")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = [problem for problem in
                 pool.map(compare, range(len(table)), table) if problem]
    for problem in found:
        print("differs:", problem)
    print("%d of %d command lines differ" % (len(found), len(table)))
    sys.exit(1 if found or not table else 0)


main()
