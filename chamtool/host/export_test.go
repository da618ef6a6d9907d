package host

// What only tests use.
var (
	Launch  = launch
	OpenMPI = openMPI
)
