#   tap.py - runs a file of tests, in a sandbox if it needs one (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   tap.py NAME        The file says in HOSTS how many hosts it needs, and in
#                      SETTINGS how they are set. Of its tests NAME.CLASS or
#                      NAME.CLASS.METHOD names some.

import faulthandler
import importlib
import os
import sys
import unittest

SECONDS = 170  # then one hangs, and says where


class Tap(unittest.TestResult):
    """Says each result at once."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def startTest(self, test):
        super().startTest(test)
        faulthandler.dump_traceback_later(SECONDS, exit=True)

    def say(self, word, test, more=""):
        self.count += 1
        title = test.shortDescription() or test.id()
        print(f"{word} {self.count} - {title}{more}", flush=True)

    def addSuccess(self, test):
        self.say("ok", test)

    def addSkip(self, test, reason):
        self.say("ok", test, f" # SKIP {reason}")

    def addError(self, test, err):
        super().addError(test, err)
        self.fail(test, self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.fail(test, self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.fail(subtest, self._exc_info_to_string(err, test))

    def fail(self, test, text):
        print("\n".join(f"# {line}" for line in text.splitlines()))
        self.say("not ok", test)


def enter_sandbox(hosts, settings):
    program = os.path.join(os.environ["BUILD"], "lockkeeper")
    sets = [word for one in settings for word in ("--set", one)]
    os.execv(program, [program, "sandbox", "--hosts", str(hosts), *sets, "--",
                       sys.executable, __file__, sys.argv[1]])


def main():
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    module = importlib.import_module(sys.argv[1].partition(".")[0])
    hosts = getattr(module, "HOSTS", 0)
    if hosts and "LOCKKEEPER_SANDBOX" not in os.environ:
        enter_sandbox(hosts, getattr(module, "SETTINGS", ()))
    result = Tap()
    unittest.defaultTestLoader.loadTestsFromName(sys.argv[1]).run(result)
    print(f"1..{result.count}")
    sys.stdout.flush()
    sys.exit(not result.wasSuccessful() or result.count == 0)


main()
