"""The parts of checks.py that need no torch: python3 -m unittest checks_test"""

import contextlib
import io
import math
import random
import statistics
import tempfile
import unittest

import checks


class Checks(unittest.TestCase):
    def test_only_launches_count(self):
        events = [("cudaLaunchKernel", 7), ("cuLaunchKernelEx", 2), ("cudaGraphLaunch", 1), ("cudaMemcpyAsync", 9), ("aten::conv2d", 3)]
        self.assertEqual(checks.counted(events), 10)
        self.assertEqual(checks.counted([]), 0)

    def test_wrong_usage(self):
        for argv in ([], ["launches"], ["launches", "lazy"], ["worker", "eager"], ["worker", "lazy", "x"], ["crash"]):
            with self.subTest(argv), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(checks.main(argv), 2)

    def test_intervals_hold(self):
        """Of 400 intervals of ratios, 95 % hold what was planted, but for three deviations."""
        rng = random.Random(1)
        held = {"welch": 0, "ratio": 0}
        for _ in range(400):
            p = checks.welch([rng.gauss(math.log(1.2), 0.1) for _ in range(3)], [rng.gauss(0, 0.1) for _ in range(3)])
            a, b = ([scale * math.exp(rng.gauss(0, 0.2)) for _ in range(50)] for scale in (1.2, 1))
            r = checks.ratio(a, b)
            held["welch"] += p["low"] <= 1.2 <= p["high"]
            held["ratio"] += r["low"] <= 1.2 <= r["high"]
        for name, n in held.items():
            with self.subTest(name):
                self.assertGreater(n, 367)
                self.assertLess(n, 393)

    def test_a_policy_has_to_halve_the_cost(self):
        def of(value, low):
            return {"value": value, "low": low, "high": 2 * value}

        self.assertTrue(checks.halved(of(3, 2.5), of(1.9, 1.5)))
        self.assertFalse(checks.halved(of(3, 2.5), of(2.1, 1.5)))
        self.assertTrue(checks.halved(of(1.2, 1.01), of(1.3, 1.1)), "nothing was to be halved")

    def test_too_few_jobs(self):
        with self.assertRaisesRegex(checks.Failed, "3 jobs are too few"):
            checks.ratio([1, 2, 3], [1] * 20)

    def test_turns_of_two_contexts(self):
        """Kernels of 0.1 ms in turns of 2 ms, the other's turn of 2 ms and two switches of 0.15 ms between."""
        block = ([0.1] * 19 + [0.1 + 2.3]) * 10
        found = checks.turns([[0.1] * 400], [block, block])
        self.assertAlmostEqual(found["turn_ms"], 2.0)
        self.assertAlmostEqual(found["switch_ms"], 0.15)
        self.assertIsNone(checks.turns([[0.1] * 400], [[0.1] * 400]), "nobody else was there")

    def test_rules_next_to_predictions(self):
        """Speeds of two pairs, by hand: the other program next to the same partner is known to one rule."""
        way = {"way": "MPS", "speed": [{"value": 0.6, "low": 0.5, "high": 0.7}, {"value": 0.4, "low": 0.3, "high": 0.45}]}
        predicted = [{"programs": pair, "predicted": [way], "busy": [0.5, 0.5], "hurried": [way]} for pair in (["a", "b"], ["a", "c"], ["b", "c"])]
        measured = [{"programs": pair, "speeds": speeds} for pair, speeds in ((["a", "b"], [0.6, 0.5]), (["a", "c"], [0.8, 0.4]), (["b", "c"], [0.9, 0.3]))]
        found = checks.compared("MPS", predicted, measured)
        row = found["rows"][0]
        self.assertEqual((row["program"], row["next_to"], row["busy shares"], row["half"], row["without the host's pace"]), ("a", "b", 0.8, 0.5, 0.6))
        self.assertAlmostEqual(row["partner's mean"], 0.3)  # c next to b
        self.assertAlmostEqual(found["inside"], 3 / 6)
        self.assertAlmostEqual(found["median_errors"]["deft"], statistics.median([0, 0.1, 0.2, 0, 0.3, 0.1]))

    def test_a_device_in_use_is_noticed(self):
        self.assertLess(checks.disagreement([1.0, 1.01, 0.99, 1.0]), checks.AGREE)
        self.assertGreater(checks.disagreement([1.0, 1.0, 1.05, 1.0]), checks.AGREE)

    def test_what_is_kept_for_resume(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            self.assertIsNone(checks.kept(f.name, "cuda"))
            for passed, device, kept in ((True, "cuda", True), (False, "cuda", False), (True, "sim", False)):
                checks.write(f.name, {"passed": passed, "device": device})
                self.assertEqual(checks.kept(f.name, "cuda") is not None, kept)


if __name__ == "__main__":
    unittest.main()
