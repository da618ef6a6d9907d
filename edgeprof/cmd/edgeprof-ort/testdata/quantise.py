"""Quantises an ONNX model to 8 bits with onnxruntime's own quantisation, in both of its
formats, as its manual advises for x86: FROM.onnx NAME '{"open size": number}' writes
NAME.QDQ.onnx and NAME.QOperator.onnx."""
import json
import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

source, name, sizes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]) or {}


class Noise(CalibrationDataReader):
    """One input of noise: times do not depend on the values."""

    def __init__(self, path):
        rng = np.random.default_rng(0)
        self.left = [{i.name: self.values(rng, i) for i in ort.InferenceSession(path).get_inputs()}]

    def values(self, rng, i):
        shape = [d if isinstance(d, int) else sizes.get("%s:%d" % (i.name, k), sizes.get(d, 1)) for k, d in enumerate(i.shape)]
        if i.type == "tensor(float)":
            return rng.random(shape, dtype=np.float32)
        return rng.integers(0, 200, shape).astype({"tensor(int32)": np.int32, "tensor(int64)": np.int64}[i.type])

    def get_next(self):
        return self.left.pop() if self.left else None


model = onnx.load(source)
if model.opset_import[0].version < 13:
    model = onnx.version_converter.convert_version(model, 13)
constants = {i.name for i in model.graph.initializer}
inputs = [i for i in model.graph.input if i.name not in constants]
del model.graph.input[:]
model.graph.input.extend(inputs)
model.ir_version = max(model.ir_version, 8)
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
options.optimized_model_filepath = folded = name + ".folded.onnx"  # some weights are made by operators
ort.InferenceSession(model.SerializeToString(), options)
for kind, activations in (QuantFormat.QDQ, QuantType.QInt8), (QuantFormat.QOperator, QuantType.QUInt8):
    quantize_static(folded, "%s.%s.onnx" % (name, kind.name), Noise(folded), quant_format=kind, activation_type=activations, weight_type=QuantType.QInt8)
os.remove(folded)
