// Package placement ranks devices for a model.
//
// It decides by the predicted time on each device as it is loaded now, the
// shortest first, ties by name; it leaves out devices that cannot hold the
// model in memory, and says why for each.
//
//	r, err := placement.Rank(analysis, devices, calibrations)
//	fmt.Println(r.Candidates[0].Node)
package placement
