package joblib

import "github.com/foretime/foretime/shared/pickle"

// globals are the classes and functions that such a file names; each stays a
// description.
func globals() []pickle.Global {
	return []pickle.Global{
		regressor, booster, transformer, pipeline, scaler, imputer, encoder, wrapper, dtype,
		{Module: "sklearn.compose._column_transformer", Name: "_RemainderColsList"},
		{Module: "builtins", Name: "bytearray"},
		{Module: "builtins", Name: "slice"},
		{Module: "numpy", Name: "float64"},
		{Module: "numpy", Name: "ndarray"},
		{Module: "numpy.core.multiarray", Name: "_reconstruct"},
		{Module: "numpy.core.multiarray", Name: "scalar"},
		{Module: "numpy._core.multiarray", Name: "_reconstruct"},
		{Module: "numpy._core.multiarray", Name: "scalar"},
		{Module: "_codecs", Name: "encode"},
	}
}

// Those that are looked for.
var (
	regressor   = pickle.Global{Module: "xgboost.sklearn", Name: "XGBRegressor"}
	booster     = pickle.Global{Module: "xgboost.core", Name: "Booster"}
	transformer = pickle.Global{Module: "sklearn.compose._column_transformer", Name: "ColumnTransformer"}
	pipeline    = pickle.Global{Module: "sklearn.pipeline", Name: "Pipeline"}
	scaler      = pickle.Global{Module: "sklearn.preprocessing._data", Name: "RobustScaler"}
	imputer     = pickle.Global{Module: "sklearn.impute._base", Name: "SimpleImputer"}
	encoder     = pickle.Global{Module: "sklearn.preprocessing._encoders", Name: "OneHotEncoder"}
	wrapper     = pickle.Global{Module: "joblib.numpy_pickle", Name: "NumpyArrayWrapper"}
	dtype       = pickle.Global{Module: "numpy", Name: "dtype"}
)
