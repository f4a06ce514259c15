# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs lit over the given suites and ends with a line for each test that failed
# and one line,
#   N passed, M failed, K skipped
# Fails when a test fails, and also when no test was found: a suite that has
# quietly become empty is no success.
import argparse
import collections
import json
import os
import subprocess
import sys

GOOD = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lit", required=True)
    parser.add_argument("--report", required=True)
    parser.add_argument("suites", nargs="+")
    arguments = parser.parse_args()

    if os.path.exists(arguments.report):
        os.remove(arguments.report)
    extra = os.environ.get("R3_LIT_ARGUMENTS", "").split()
    status = subprocess.call(
        [arguments.lit, "-sv", "--order=smart",
         "--output=" + arguments.report] + extra + arguments.suites)
    try:
        with open(arguments.report, encoding="utf-8") as report:
            tests = json.load(report)["tests"]
    except (OSError, ValueError, KeyError) as problem:
        print("error: lit left no report: %s" % problem)
        return status or 1

    counts = collections.Counter(test["code"] for test in tests)
    passed = sum(counts[code] for code in GOOD)
    skipped = sum(counts[code] for code in SKIPPED)
    failed = len(tests) - passed - skipped
    sys.stdout.flush()
    if passed + failed == 0:
        print("error: no test was run in %s" % " ".join(arguments.suites))
        status = status or 1
    if status and not failed:
        print("error: lit ended with status %d" % status)
    for test in tests:
        if test["code"] not in GOOD | SKIPPED:
            print("%s: %s" % (test["code"], test["name"]))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed or status else 0


if __name__ == "__main__":
    sys.exit(main())
