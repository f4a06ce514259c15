# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A search that is killed again and again, against one that is not."""
import os
import re
import subprocess
import sys

from . import searches, trust, zoo
from .common import CannotRun

KILLS = 50
EVALUATIONS = 60


def kill(setting):
    """kills (of 50, at random moments) after which a search ends with the same journal"""
    setting.require(setting.clang, setting.clang_r3)
    script = os.path.join(os.path.dirname(setting.bench), "lit-tests", "Remix",
                          "Inputs", "killed.py")
    if not os.path.exists(script):
        raise CannotRun("%s is missing" % script)
    folder, store = trust.recorded(setting, searches.EXAMPLE)
    command = [sys.executable, script, str(KILLS), "1", setting.r3, "remix",
               "--deterministic", os.path.join(folder, "times"),
               "--max-evals", str(EVALUATIONS)]
    ran = subprocess.run(command, cwd=folder, text=True,
                         env=dict(setting.environment, **store),
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         check=False)
    sys.stderr.write(ran.stdout)
    made = re.match(r"(\d+) evaluations, killed (\d+) times", ran.stdout)
    killed = int(made.group(2)) if made and not ran.returncode else 0
    return {"value": killed, "limit": KILLS, "pass": killed == KILLS,
            "device": zoo.device(),
            "detail": ran.stdout.strip().split("\n")[-1]}
