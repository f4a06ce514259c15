# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What files with the output of r3 remix --json say of one kernel's search.
import json
import sys

variants = {}
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        search = json.load(file)
    kernel, = search["kernels"]
    variants[name] = [one["variant"] for one in kernel["evaluations"]]
    evaluated = [one for one in kernel["evaluations"]
                 if one["outcome"] != "duplicate"]
    assert len(set(variants[name])) == len(variants[name])
    print("%s: %d evaluations, %s, of %s, %d tried" % (
        name, len(evaluated), search["state"],
        "unknown" if kernel["variants"] is None else kernel["variants"],
        kernel["tried"]))
    if name == "second":
        first = variants["first"]
        assert variants[name][:len(first)] == first, (first, variants[name])
        print("the second goes on with the first")
