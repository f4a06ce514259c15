# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Lines for [space] of r3.toml that leave little of the space: restrict.py LlvmOptions.def
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    options = re.findall(r'^R3_LLVM_OPTION\("([^"]+)"', file.read(), re.M)
print("edits = 0\nbase = []\nlevel = [\"O1\", \"O3\"]")
for key in ["passes", "ptxas", "maxnreg", "bounds", "loads", "stores", "arch",
            "shape", "scalars", "pointers", "block", "grid"] + options:
    print("%s = []" % key)
