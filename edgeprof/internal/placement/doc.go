// Package placement ranks devices for a model.
//
// Devices are sorted by the predicted time under their load now, the shortest first, and
// ties by name. The times come from an [Estimator]. A device that cannot be estimated, or has too little memory for the model, is
// excluded with a reason.
//
// A [Request] is the original service's: it contains seven counts of a model, and the
// answer is the fastest device. [ParseRequest] checks it and names every invalid field.
// [Request.Answer] has the original's form: keys sorted, indented by two, and every value
// of the request as it was sent, so 10000000000000000000 is preserved. If only the counts
// are known, the time is predicted by the power law of [FitPowerLaw]; the model's own file gives
// much better predictions.
package placement
