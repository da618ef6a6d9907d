// Package joblib reads the model files of the original profiler without
// unpickling them: a pickle can run any code, and nothing here runs.
//
// It decides where in the file the parts lie: the booster, which XGBoost wrote
// into the pickle as UBJSON, and the arrays of the scaler, whose bytes joblib
// puts after their description. It undoes the scaling in the booster's own
// thresholds, so that what comes out takes features as they were measured. It
// refuses a file whose parts do not fit each other.
//
//	p, err := joblib.Read(file)
//	err = p.Booster.WriteJSON(out)
package joblib
