// Package evaluation measures the models on logs: it learns from one part and
// is judged on the rest.
//
// It decides what a fair judgement is: nothing of the judged part is learned
// from, logs of several ranks are pooled, and runs whose sizes were not in the
// training part are also judged apart. It refuses splits that leave a side
// empty ([ErrSplit]).
package evaluation
