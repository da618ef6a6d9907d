// Package matching finds the assignment of jobs to machines of several types,
// and the order on each machine, that minimises the sum of completion times.
//
// It decides exactly: a job that is the n-th from the end of a machine's queue
// delays itself and the n-1 behind it, so it costs n times its own time plus
// the time at which the machine is free, and the best plan is a matching of
// minimum cost of jobs to such slots (Horn 1973; Bruno, Coffman and Sethi
// 1974; AlloX, EuroSys 2020, section 4). It refuses times that are not above
// zero and ready times that are not finite. It knows nothing of users,
// arrivals or errors; the schedule package does.
//
// A Plan is kept up to date as jobs come and go and machines become free:
// DESIGN.md of the schedule package tells how.
//
//	func main() {
//		// Two machines of type 0, free at 0 and 5; one of type 1, free at 0.
//		p, err := matching.New([][]float64{{0, 5}, {0}})
//		if err != nil {
//			log.Fatal(err)
//		}
//		for _, seconds := range [][]float64{{4, 2}, {9, 3}, {6, 6}} {
//			if _, err := p.Add(seconds); err != nil {
//				log.Fatal(err)
//			}
//		}
//		fmt.Println(p.Cost(), p.Queue(1, 0)) // 13 [0 1]
//	}
package matching
