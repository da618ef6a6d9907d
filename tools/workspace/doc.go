// Package workspace says which modules the project has and where they lie.
//
// The list comes from go.work, so no other place has to repeat it:
//
//	ws, err := workspace.Find(".")
//	for _, m := range ws.Modules {
//		fmt.Println(m.Name, m.Dir)
//	}
package workspace
