"""Trains pipelines as the original profiler does, and saves what they predict.

usage: train.py PATH [impute]
"""
import sys

import joblib
import numpy as np
import pandas as pd
import xgboost
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, RobustScaler

path, impute = sys.argv[1], len(sys.argv) > 2
rng = np.random.default_rng(1)
columns = [
    "conv_layers", "device_load_percent", "disk_io_read_bytes", "disk_io_write_bytes", "device_disk_usage_percent",
    "filter_details", "fully_conn_layers", "pool_layers", "total_parameters",
]
x = pd.DataFrame({c: rng.integers(1, 500, 400).astype(float) for c in columns})
x["device"] = rng.choice(["jetson", "raspberrypi"], len(x))
y = x["conv_layers"] * 0.01 + x["device_load_percent"] * 0.02 + (x["device"] == "jetson") * 2
numeric = RobustScaler()
if impute:
    numeric = Pipeline([("imputer", SimpleImputer(strategy="mean")), ("scaler", numeric)])
prepare = ColumnTransformer([("num", numeric, columns), ("cat", OneHotEncoder(handle_unknown="ignore"), ["device"])])
model = Pipeline([
    ("preprocessor", prepare),
    ("regressor", xgboost.XGBRegressor(n_estimators=30, max_depth=4, learning_rate=0.1, random_state=42)),
])
model.fit(x, y)
joblib.dump(model, path)
x["device_jetson"] = (x["device"] == "jetson") * 1
x["device_raspberrypi"] = (x["device"] == "raspberrypi") * 1
x.drop(columns="device").assign(want=model.predict(x)).to_csv(path + ".csv", index=False)
