package event

// Dialect is the tools interface that a program speaks. The first two carry the
// same entry symbol.
type Dialect int

const (
	// Upstream is the interface of the unmodified Chameleon library.
	Upstream Dialect = iota + 1
	// Patched is the interface of the library extended for load prediction. It lacks the lookup
	// of a task's meta information, by which it is recognised.
	Patched
	// OpenMP is OMPT, the tools interface of OpenMP runtimes.
	OpenMP
)

// String returns the dialect's name.
func (d Dialect) String() string {
	return [...]string{"unknown", "upstream", "patched", "openmp"}[d]
}

// How the Chameleon library finds and starts a tool.
const (
	EntrySymbol          = "cham_t_start_tool"
	LibrariesVariable    = "CHAMELEON_TOOL_LIBRARIES" // colon-separated paths, tried in order
	OlderLibraryVariable = "CHAM_TOOL_DIR"            // one path; the older name
	EnableVariable       = "CHAMELEON_TOOL"           // "0" or "disabled" switches tools off
	OpenMPEntry          = "ompt_start_tool"
	OpenMPLibraries      = "OMP_TOOL_LIBRARIES" // colon-separated paths, of OpenMP runtimes
	OpenMPEnable         = "OMP_TOOL"           // "disabled" switches the tools of OpenMP off
)

// Flag says where a task comes from. The values are the interface's.
type Flag uint8

// Where a task comes from.
const (
	Local      Flag = 1 // created on this rank
	Remote     Flag = 2 // migrated to this rank
	Replicated Flag = 4 // held by several ranks, run by one
)

// String returns "local", "remote", "replicated" or "unknown".
func (f Flag) String() string {
	switch {
	case f&Replicated != 0:
		return "replicated"
	case f&Remote != 0:
		return "remote"
	case f&Local != 0:
		return "local"
	}
	return "unknown"
}
