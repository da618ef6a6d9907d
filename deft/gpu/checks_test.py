"""The parts of checks.py that need no torch: python3 -m unittest checks_test"""

import contextlib
import io
import unittest

import checks


class Checks(unittest.TestCase):
    def test_only_launches_count(self):
        events = [("cudaLaunchKernel", 7), ("cuLaunchKernelEx", 2), ("cudaGraphLaunch", 1), ("cudaMemcpyAsync", 9), ("aten::conv2d", 3)]
        self.assertEqual(checks.counted(events), 10)
        self.assertEqual(checks.counted([]), 0)

    def test_wrong_usage(self):
        for argv in ([], ["launches"], ["launches", "lazy"], ["crash", "now"]):
            with self.subTest(argv), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(checks.main(argv), 2)


if __name__ == "__main__":
    unittest.main()
