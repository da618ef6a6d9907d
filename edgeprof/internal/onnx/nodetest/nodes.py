# Write the node tests of the onnx package below a folder: NAME/model.onnx, its first data
# set as the conformance suite has it, and the inputs that are short vectors of numbers.
import json, os, sys, warnings
warnings.filterwarnings("ignore")
import numpy as np
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

for case in collect_testcases(None):
    if case.model is None:
        continue
    folder = os.path.join(sys.argv[1], case.name)
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    with open(os.path.join(folder, "model.onnx"), "wb") as f:
        f.write(case.model.SerializeToString())
    values = {}
    inputs, outputs = case.data_sets[0]
    for kind, infos, arrays in ("input", case.model.graph.input, inputs), ("output", case.model.graph.output, outputs):
        for i, (info, array) in enumerate(zip(infos, arrays)):
            if not isinstance(array, (np.ndarray, np.generic)):
                continue
            array = np.asarray(array)
            if array.dtype.name == "bfloat16" and kind == "input" and array.size <= 64:
                values[info.name] = [float(v) for v in array.astype(np.float32).reshape(-1)]
            if array.dtype.kind not in "biuf":
                continue
            tensor = numpy_helper.from_array(array, info.name)
            if tensor.data_type != info.type.tensor_type.elem_type:
                continue
            with open(os.path.join(data, "%s_%d.pb" % (kind, i)), "wb") as f:
                f.write(tensor.SerializeToString())
            if kind == "input" and array.size <= 64 and np.isfinite(array).all():
                values[info.name] = [float(v) for v in array.reshape(-1)]
    with open(os.path.join(folder, "values.json"), "w") as f:
        json.dump(values, f)
