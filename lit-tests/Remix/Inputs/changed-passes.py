# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A catalogue with one mistake of each kind, and little else to be tried.
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    head, *passes = file.read().split("\n[[pass]]\n")
kept = []
for one in passes:
    name = one.split('"')[1]
    if name == "adce":
        continue
    if name == "gvn":
        one = '\n'.join('parameters = ["pre"]' if line.startswith("param")
                        else line for line in one.split("\n"))
    if name == "licm":
        one = one.replace('lists = ["loop-mssa"]',
                          'lists = ["loop", "loop-mssa"]')
    elif name == "bounds-checking":
        one = one.replace('"guard=64"', '"guard=128"')
    elif "lists" in one:
        one = one.split("lists")[0] + 'unusable = "not tried here"\n'
    kept.append(one)
kept.append('name = "no-such-pass"\nkind = "function"\nunusable = "x"\n')
print("\n[[pass]]\n".join([head] + kept))
