# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs a search to its end in a copy of the store, and in the store itself with
# SIGKILL at random moments, then compares the journals:
#   killed.py KILLS SEED COMMAND...     (R3_STORE: the store)
# A moment: so many evaluations in the journal, and a little later.
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

kills, seed, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
store = os.environ["R3_STORE"]
COLUMNS = ("k.key, e.setting, e.variant, v.note, e.seed, e.outcome, e.message, e.code, e.ir, e.ptx,"
           " e.registers, e.shared, e.spills, e.original_ns, e.variant_ns, e.gain, e.low, e.high,"
           " e.same_as")


def journal(where, query):
    try:
        connection = sqlite3.connect("file:%s/journal.db?mode=ro" % where, uri=True)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()
    except sqlite3.OperationalError:  # not there yet
        return []


def count(where):
    return (journal(where, "SELECT count(*) FROM evaluation") or [(0,)])[0][0]


def contents(where):
    """All rows in order; a row that is named by its number is named by its place."""
    numbers = [row[0] for row in journal(where, "SELECT id FROM evaluation ORDER BY id")]
    rows = journal(where, "SELECT " + COLUMNS + " FROM evaluation e JOIN kernel k ON k.id = e.kernel"
                   " JOIN variant v ON v.id = e.variant ORDER BY e.id")
    return [row[:-1] + (None if row[-1] is None else numbers.index(row[-1]),) for row in rows]


def run(where):
    subprocess.run(command, env=dict(os.environ, R3_STORE=where), check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_at(evaluations, later):
    """Whether it was killed, and did not end before."""
    search = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while search.poll() is None and count(store) < evaluations:
        time.sleep(0.01)
    time.sleep(later)
    search.kill()
    return search.wait() == -signal.SIGKILL


whole = os.path.abspath("whole-" + os.path.basename(store))
shutil.copytree(store, whole)
run(whole)
expected = contents(whole)
assert len(expected) > 2, "nothing was searched"

dice = random.Random(seed)
moments = sorted(dice.randrange(len(expected)) for _ in range(kills))
killed = sum(kill_at(moment, dice.uniform(0, 0.1)) for moment in moments)
before = count(store)
run(store)
found = contents(store)
for place, (one, other) in enumerate(zip(expected, found)):
    for name, here, there in zip(re.split(", *", COLUMNS), one, other):
        if here != there:
            sys.exit("evaluation %d differs in %s: %s, and %s with kills" % (place, name, here, there))
if len(expected) != len(found):
    sys.exit("%d evaluations, and %d with kills" % (len(expected), len(found)))
print("%d evaluations, killed %d times, %d before the last run: the same journal"
      % (len(found), killed, before))
