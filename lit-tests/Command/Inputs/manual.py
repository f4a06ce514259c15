# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares a manual with what `r3 help COMMAND` prints: manual.py COMMANDS.md
import re
import subprocess
import sys


def help_text(*words):
    text = subprocess.run(["r3", *words], check=True, text=True,
                          capture_output=True).stdout
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()


manual = open(sys.argv[1]).read()
sections = dict(re.findall(r"^## (\S+)\n\n```text\n(.*?)\n```$", manual,
                           re.M | re.S))
block = help_text("--help").split("Subcommands:\n")[1].split("\n\n")[0]
names = re.findall(r"^  (\S+)", block, re.M)
assert names, "r3 --help lists no command"
assert sorted(sections) == sorted(names), (sorted(sections), sorted(names))
for name in names:
    if sections[name] != help_text("help", name):
        sys.exit("docs/COMMANDS.md: section %s is not what `r3 help %s` prints"
                 % (name, name))
