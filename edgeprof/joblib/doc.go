// Package joblib reads the model files of the original profiler without
// unpickling them: a pickle can run any code, and nothing here runs.
//
// It decides which parts of the file count: the columns and how they were scaled,
// the categories, and the booster, which XGBoost wrote into the pickle as UBJSON.
// It undoes the scaling in the booster's own thresholds, so that what comes out
// takes features as they were measured. It refuses classes that such a file does
// not have, and a file whose parts do not fit each other.
//
//	p, err := joblib.Read(file)
//	err = p.Booster.WriteJSON(out)
package joblib
