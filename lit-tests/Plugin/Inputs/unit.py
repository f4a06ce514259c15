# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the descriptors of the units in an object file or executable as JSON,
# one member a line.
import json
import struct
import sys

data = open(sys.argv[1], "rb").read()
at = data.find(b"R3UNIT\0\0")
while at >= 0:
    size = struct.unpack_from("<Q", data, at + 16)[0]
    unit = json.loads(data[at + 24:at + 24 + size])
    print(json.dumps(unit, indent=1))
    at = data.find(b"R3UNIT\0\0", at + 1)
