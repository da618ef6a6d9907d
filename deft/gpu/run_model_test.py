"""The parts of run_model.py that need no torch: python3 -m unittest run_model_test"""

import contextlib
import io
import json
import os
import tempfile
import unittest

import run_model

GOOD = {
    "model_name": "resnet50",
    "model_weight": "ResNet50_Weights.DEFAULT",
    "sleep_time": 0.5,
    "input_file_path": "no/such/image.jpg",
    "output_file_path": "logs",
    "output_file_name": "model_A",
    "priority": 0,
    "resize": True,
    "resize_size": [720, 1280],
    "batch_size": 2,
    "control": {"control": False, "controlsync": False, "controlEvent": False, "queue_limit": {"sync": 4}},
}


def read(entry):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        with open(path, "w", encoding="utf-8") as f:
            f.write(entry if isinstance(entry, str) else json.dumps(entry))
        return run_model.read_model(path)


class Configuration(unittest.TestCase):
    def test_upstream_entry(self):
        model = read(GOOD)
        self.assertEqual((model["name"], model["size"], model["batch"], model["sleep_s"]), ("resnet50", [720, 1280], 2, 0.5))
        self.assertEqual(run_model.csv_path(model), os.path.join("logs", "model_A.csv"))

    def test_batch_and_size_may_be_absent(self):
        model = read({"model_name": "resnet50", "output_file_name": "a"})
        self.assertEqual((model["batch"], model["size"], model["sleep_s"]), (1, [224, 224], 0))

    def test_refusals_name_the_field(self):
        for name, value in {
            "model_name": 5, "output_file_name": None, "batch_size": 0, "sleep_time": -1,
            "resize_size": [720], "resize": "true", "output_file_path": 1,
        }.items():
            with self.subTest(name), self.assertRaisesRegex(run_model.Refused, name):
                read({**GOOD, name: value})
        for name in ("model_name", "output_file_name"):
            with self.subTest(name), self.assertRaisesRegex(run_model.Refused, name + ": missing"):
                read({k: v for k, v in GOOD.items() if k != name})
        with self.assertRaisesRegex(run_model.Refused, "resize_size"):
            read({**GOOD, "resize_size": [720, "1280"]})
        with self.assertRaisesRegex(run_model.Refused, "batch_size"):
            read({**GOOD, "batch_size": True})
        with self.assertRaisesRegex(run_model.Refused, "line 1"):
            read("{,}")
        with self.assertRaisesRegex(run_model.Refused, "object"):
            read([GOOD])


class Protocol(unittest.TestCase):
    def test_barrier(self):
        out = io.StringIO()
        run_model.wait_for_run(io.StringIO("run\n"), out)
        self.assertEqual(out.getvalue(), "model loaded\n")
        for line in ("", "run", "stop\n"):
            with self.subTest(line), self.assertRaises(run_model.Refused):
                run_model.wait_for_run(io.StringIO(line), out)

    def test_row(self):
        self.assertEqual(run_model.csv_row(1_000, 2_501_000, 7, 8), "1000,2501000,2.500000,7,8")
        self.assertEqual(len(run_model.HEADER.split(",")), 5)

    def test_jobs_until_both_limits(self):
        for duration, minimum, pause, period, want in ((10, 3, 0, 0, 10), (2, 5, 0, 0, 5), (0, 0, 0, 0, 0), (10, 1, 1.5, 0, 4), (0, 1, 9, 0, 1), (10, 1, 1.5, 4, 3), (10, 1, 0, .5, 10)):
            clock = [100.0]

            def job():
                clock[0] += 1

            def sleep(seconds):
                clock[0] += seconds

            got = run_model.run_jobs(job, duration, minimum, pause, period, now=lambda: clock[0], sleep=sleep)
            self.assertEqual(got, want, (duration, minimum, pause, period))

    def test_detections(self):
        self.assertEqual(run_model.detections([{"scores": [1, 2]}, {"scores": []}]), 2)
        for other in ([], [1], {"out": 1}, None):
            self.assertIsNone(run_model.detections(other))

    def test_language_models(self):
        self.assertEqual([run_model.is_text(n) for n in ("gpt2", "codegen-350M-mono", "bloom-560m", "resnet50")], [True, True, True, False])

    def test_marks_without_the_hook(self):
        begin, end = run_model.marks()
        self.assertEqual((begin(0), end()), (0, 0))


class CommandLine(unittest.TestCase):
    def test_upstream_arguments(self):
        args = run_model.arguments(["a.json", "1", "2.5", "--sync-model-load"])
        self.assertEqual((args.file, args.device, args.duration, args.sync_model_load, args.min_jobs), ("a.json", "1", 2.5, True, 10))
        self.assertEqual(run_model.arguments(["a.json", "cpu", "1"]).device, "cpu")

    def test_wrong_usage(self):
        for argv in ([], ["a.json", "gpu", "1"], ["a.json", "0", "soon"], ["a.json", "0", "1", "--more"]):
            with self.subTest(argv), contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as e:
                run_model.arguments(argv)
            self.assertEqual(e.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
