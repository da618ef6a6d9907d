package cli

// renames are what commands and flags of earlier releases are called now.
func renames() map[string]string {
	log := map[string]string{
		"--layout": "log.layout", "--zone": "log.zone", "--partition": "log.partition", "--procs-per-node": "log.procs_per_node",
		"--unit": "log.unit", "--before": "log.before", "--load": "log.load",
	}
	rules := map[string]string{
		"--scheduler": "scheduler", "--user-limit": "user_limit", "--age-weight": "weights.age", "--max-age-days": "weights.max_age_days",
		"--size-weight": "weights.size",
		"--queue-depth": "default_queue_depth", "--bf-interval": "backfill.bf_interval", "--bf-window": "backfill.bf_window",
		"--bf-resolution": "backfill.bf_resolution", "--bf-max-job-test": "backfill.bf_max_job_test", "--down": "down",
	}
	workers := map[string]string{"--workers": "workers"}
	service := map[string]string{"--service-nodes": "service.nodes", "--service-limit": "service.limit", "--service-priority": "service.priority"}
	baselines := map[string]string{
		"--lead": "policy.lead_hours", "--quantile": "policy.quantile", "--full-limits": "policy.weight_of_full_limits", "--wait-quantile": "policy.wait_quantile",
	}
	job := map[string]string{
		"--service-cpus": "service.cpus", "--service-gpus": "service.gpus", "--service-memory": "service.memory_mb", "--service-units": "service.units",
		"--service-time": "service.time", "--name": "service.name", "--notice": "service.notice", "--interval": "decide.interval",
		"--poll": "decide.poll", "--settle": "decide.request_timeout", "--time-scale": "decide.time_scale",
	}
	table := map[string]string{
		"provision --service-exclusive": "--set service.exclusive=true",
		"when --nodes":                  "--set nodes=", "serve --nodes": "--set nodes=", "log synth --zone": "--set log.zone=",
		"train --zone": "--set log.zone=", "trace": "log", "calibrate": "fit", "explain": "simulate",
	}
	for command, flags := range map[string][]map[string]string{
		"log stats": {log}, "log convert": {log}, "when": {log, workers}, "serve": {log, workers}, "fit": {log, workers},
		"backtest": {log, rules, workers}, "simulate": {log, rules}, "explain": {log, rules},
		"generate": {log, rules, workers, service}, "validate": {log, rules, workers, service, baselines}, "provision": {service, baselines, job},
	} {
		for _, names := range flags {
			for flag, setting := range names {
				table[command+" "+flag] = "--set " + setting + "="
			}
		}
		if len(flags) > 1 && command != "when" && command != "provision" {
			table[command+" --logged-priority"] = "--set logged_priority=true"
		}
	}
	delete(table, "generate --partition") // what follows --slurm-option may be this
	return table
}
