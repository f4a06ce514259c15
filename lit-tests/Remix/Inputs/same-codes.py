# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether searches of one kernel (files of r3 remix --json) found the same code
for each variant, and that it is right or not. Which of several variants with
one binary was first depends on the order."""
import json
import sys


def codes(name):
    with open(name, encoding="utf-8") as file:
        (kernel,) = json.load(file)["kernels"]
    assert kernel["tried"] == kernel["variants"], name
    found = {each["variant"]: each for each in kernel["evaluations"]}
    right = {each["code"]: each["outcome"] for each in found.values()
             if each["outcome"] != "duplicate"}
    return found, {variant: (each["code"], right.get(each["code"], "original"),
                             each["registers"])
                   for variant, each in found.items()}


first, expected = codes(sys.argv[1])
for name in sys.argv[2:]:
    found = codes(name)[1]
    different = {variant for variant in expected
                 if found.get(variant) != expected[variant]}
    assert not different, (name, [(first[each]["note"], expected[each],
                                   found.get(each)) for each in different])
duplicates = sum(each["outcome"] == "duplicate" for each in first.values())
print("%d variants, %d of them duplicates, the same code in %s"
      % (len(first), duplicates, ", ".join(sys.argv[1:])))
