"""Programs that share a GPU."""
import json

from rows import OUT, ROUNDS, answer, show


def gate():
    """An urgent job on a shared GPU, with the gate and with a GPU's own behaviour:
    kernels of all programs first come first served, or in time slices."""
    common = {"resize": True, "batch_size": 1, "output_file_path": "logs"}
    jobs = [  # two detectors on one simulated GPU, the second urgent
        {"model_name": "fasterrcnn_resnet50_fpn", "resize_size": [1440, 2560], "priority": 0, "sleep_time": 0, "output_file_name": "background"},
        {"model_name": "retinanet_resnet50_fpn", "resize_size": [480, 640], "priority": 1, "sleep_time": 0.15, "output_file_name": "urgent"},
    ]
    for discipline, rival in [("fifo", "first come first served, as under MPS"), ("turns", "time slices, as without MPS")]:
        path = f"{OUT}/{discipline}.json"
        with open(path, "w") as f:
            json.dump({"models": [{**common, **j} for j in jobs], "exp_dur": 4, "jitter": 0.05, "discipline": discipline}, f)
        def urgent(policy):
            return answer("deft", "run", "-f", path, "--policy", policy, "--out-dir", OUT + "/deft")["models"][1]["jct_ms"]["p50"]
        pairs = [(urgent("priority"), urgent("none")) for _ in range(ROUNDS)]
        show("deft", "an urgent job that shares a simulated GPU, median", "ms", rival, pairs, "deft run -f FILE --policy priority, and none")
