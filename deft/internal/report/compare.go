package report

// CompareWith sets the inflation of each model whose run alone on the device, at the same place
// of the configuration, is known.
func (r *Run) CompareWith(alone *Run) {
	for i := range r.Models {
		m := &r.Models[i]
		if i >= len(alone.Models) || alone.Models[i].Name != m.Name || !(alone.Models[i].JCT.Mean > 0) {
			continue
		}
		inflation := m.JCT.Mean/alone.Models[i].JCT.Mean - 1
		m.Inflation = &inflation
	}
}
