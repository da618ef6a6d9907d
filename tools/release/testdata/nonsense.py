"""Wrong calls, and wrong uses of answers: mypy must reject each line that is marked WRONG."""

import datetime

import allox_est
import chamtool
import deft
import edgeprof
import mirage

allox_est.schedule(input="jobs.csv", policy="nonsense")  # WRONG: a choice
allox_est.schedule(policy="fifo", cpu_nodes=2)  # WRONG: a required argument is missing
allox_est.estimate("job.yaml", device=["cpu", "tpu"])  # WRONG: a choice in a list
allox_est.run()  # WRONG: no command
allox_est.run("./train.sh", "{epochs}", epochs="forty")  # WRONG: a text for a number
allox_est.schedule(input="jobs.csv").schedules[0].mean_jct  # WRONG: a misspelled field
allox_est.run("job.yaml").devices["cpu"].wall_seconds.value  # WRONG: it may be None
chamtool.replay()  # WRONG: no file
chamtool.replay("a.csv", model="forest")  # WRONG: a choice
chamtool.report("logs").prediction.value  # WRONG: it is no interval
chamtool.report("logs").functions[0].median_seconds * 2  # WRONG: it may be None
deft.run()  # WRONG: a required argument is missing
deft.run(file="a.json", clock="sundial")  # WRONG: a choice
deft.ctl_weight("train", "heavy")  # WRONG: a text for a number
deft.run_sync(file="a.json", sync=["often"])  # WRONG: texts for numbers
edgeprof.rank("a.onnx", "b.onnx")  # WRONG: one model too many
edgeprof.rank("a.onnx").candidates[0].seconds + 1  # WRONG: an interval is no number
edgeprof.rank(edgeprof.time("a.onnx"))  # WRONG: an answer is no model
mirage.when("month.log", nodes=4)  # WRONG: a misspelled argument
mirage.when("month.log", job_limit=3600)  # WRONG: a number without a unit
mirage.when("month.log").start < datetime.date.today().year  # WRONG: a time and a number
mirage.backtest("month.log").gain.high.hours  # WRONG: a float has no such field
mirage.record_list()[0].outcome.value  # WRONG: it may be None, and is a float
