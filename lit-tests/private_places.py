# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The format of the lit tests: a shell test whose store, temporary folder and
# ccache are its own and empty, so that tests can run side by side. A module of
# its own because lit sends the format to its worker processes.
import copy
import os
import shutil

import lit.formats
import lit.Test
import lit.TestRunner


# Tests with launches that the device ends, or that have to be ended: on a GPU
# that takes the longer the more of them there are at once, and launches have
# deadlines.
FAULTS = {"calls-an-address.cuh", "deadlock.cuh", "device-faults.cu",
          "divergent-barrier.cuh", "endless-loop.cuh", "program-faults.cu",
          "recurses.cuh", "several.test", "sleeps.cuh", "spins-on-a-block.cuh",
          "traps.cuh", "writes-null.cuh"}


def one_fault_at_a_time(test):
    """The parallelism group of a test; lit asks."""
    return "faults" if test.path_in_suite[-1] in FAULTS else None


class PrivatePlacesTest(lit.formats.ShTest):
    """A shell test with places of its own."""

    def __init__(self, execute_external, only_with=""):
        """only_with: a text that a file has to hold to be a test here."""
        super().__init__(execute_external)
        self.only_with = only_with

    def getTestsForPath(self, *arguments):
        for test in super().getTestsForPath(*arguments):
            with open(test.getSourcePath(), encoding="utf-8") as source:
                if self.only_with in source.read():
                    yield test

    def execute(self, test, lit_config):
        base = lit.TestRunner.getTempPaths(test)[1] + ".tmp"  # that is %t
        environment = dict(test.config.environment)
        places = {"R3_STORE": base + ".store", "TMPDIR": base + ".tmpdir",
                  "CCACHE_DIR": base + ".ccache"}
        environment.update(places)
        for place in [base, *places.values()]:
            if os.path.isdir(place):
                shutil.rmtree(place, ignore_errors=True)
        os.makedirs(environment["TMPDIR"])
        test.config = copy.copy(test.config)
        test.config.environment = environment
        result = super().execute(test, lit_config)
        if result.code is lit.Test.PASS:  # stores can be large
            for place in places.values():
                shutil.rmtree(place, ignore_errors=True)
        return result
