# Write the node tests of the onnx package below a folder: NAME/model.onnx, and the inputs
# that are short vectors of numbers.
import json, os, sys, warnings
warnings.filterwarnings("ignore")
import numpy as np
from onnx.backend.test.case.node import collect_testcases

for case in collect_testcases(None):
    if case.model is None:
        continue
    folder = os.path.join(sys.argv[1], case.name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.onnx"), "wb") as f:
        f.write(case.model.SerializeToString())
    values = {}
    for info, array in zip(case.model.graph.input, case.data_sets[0][0]):
        if not isinstance(array, (np.ndarray, np.generic)):
            continue
        array = np.asarray(array)
        if array.size > 64:
            continue
        if array.dtype.name == "bfloat16":
            array = array.astype(np.float32)
        elif array.dtype.kind not in "biuf" or not np.isfinite(array).all():
            continue
        values[info.name] = [float(v) for v in array.reshape(-1)]
    with open(os.path.join(folder, "values.json"), "w") as f:
        json.dump(values, f)
