//go:build !race

package follow

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/progress"
)

// player writes the log of an invented run: what is printed when, in seconds.
type player struct {
	*rand.Rand
	at     float64
	events []event
}

type event struct {
	at   float64
	text string
}

func newPlayer(name string) player {
	return player{Rand: rand.New(rand.NewPCG(1, uint64(len(name)))), at: 1}
}

// wait lets about so many seconds pass.
func (p *player) wait(seconds float64) { p.at += seconds * math.Exp(0.05*p.NormFloat64()) }

func (p *player) print(format string, values ...any) {
	p.events = append(p.events, event{p.at, fmt.Sprintf(format, values...)})
}

// stamp returns the time of day.
func (p *player) stamp() string {
	return fmt.Sprintf("2031-06-12 14:%02d:%02d,%03d", int(p.at)/60, int(p.at)%60, p.IntN(1000))
}

// loss returns a value that a trainer measures.
func (p *player) loss() float64 { return 0.5 + p.Float64() }

// bar draws as tqdm does.
func (p *player) bar(name string, i, n int) {
	p.print("\r%s%3d%%|%s| %d/%d [00:%02d<00:%02d, %.2fit/s, loss=%.3f]", name, 100*i/n, strings.Repeat("█", 10*i/n), i, n, int(p.at)%60, p.IntN(60), 1+p.Float64(), p.loss())
}

// shape is the log of a kind of trainer, after its public documentation; all numbers are
// invented.
type shape struct {
	name  string
	units int  // that a user would give
	alone bool // the log contains its length
	write func(p *player)
}

var shapes = []shape{
	{"keras", 8, true, func(p *player) {
		for e := range 8 {
			p.print("Epoch %d/8\n", e+1)
			for i := 2; i <= 20; i += 2 {
				p.wait(0.25)
				p.print("\x1b[1m%2d/20\x1b[0m \x1b[32m%s\x1b[0m \x1b[1m%ds\x1b[0m 120ms/step - accuracy: %.4f - loss: %.4f\r", i, strings.Repeat("━", i), p.IntN(9), p.Float64(), p.loss())
			}
			p.wait(0.3)
			p.print("20/20 - 3s - loss: %.4f - val_loss: %.4f\n", p.loss(), p.loss())
		}
	}},
	{"lightning", 8, false, func(p *player) {
		p.print("  | Name | Type | Params\n---\n0 | net | Sequential | 806 K\n---\n806 K     Trainable params\n0         Non-trainable params\n")
		for i := range 3 {
			p.print("\rSanity Checking DataLoader 0: %3d%%|%s| %d/2 [00:00<00:00, 9.3it/s]", 50*i, "██", i)
			p.wait(0.2)
		}
		for e := range 8 {
			for i := range 21 {
				p.wait(0.12)
				p.print("\rEpoch %d: %3d%%|%s| %d/20 [00:0%d<00:01, 8.%dit/s, v_num=0, train_loss=%.3f]", e, 5*i, strings.Repeat("█", i/2), i, p.IntN(9), p.IntN(9), p.loss())
			}
			for i := range 5 {
				p.wait(0.08)
				p.print("\rValidation DataLoader 0: %3d%%|%s| %d/4 [00:00<00:00, 19.3it/s]", 25*i, "██", i)
			}
		}
	}},
	{"fairseq2", 2000, false, func(p *player) {
		p.print("%s INFO fairseq2 - Config:\n  max_num_tokens: 4096\n  num_prefetch: 4\n  validate_every_n_steps: 500\n", p.stamp())
		for s := 50; s <= 2000; s += 50 {
			p.wait(0.6)
			p.print("[06/12/31 14:11:%02d] INFO fairseq2.recipes.trainer - Train Metrics (step %d) - NLL Loss: %.4f | Gradient Norm: %.3f | Elements per Second: 3,%03d | Total Number of Elements: %d | Learning Rate: 5e-05 | Data Epoch: 1\n", int(p.at)%60, s, p.loss(), p.loss(), p.IntN(1000), s*4096+p.IntN(999))
		}
	}},
	{"nemo", 60, false, func(p *player) {
		for i := 1; i <= 60; i++ {
			p.wait(0.4)
			p.print("\rEpoch 0: :  %d%%|%s| %d/60 [00:%02d<00:20, v_num=0, reduced_train_loss=%.3f, global_step=%d.0, consumed_samples=%d.0, train_step_timing in s=0.4%d]", 100*i/60, strings.Repeat("█", i/6), i, int(p.at)%60, p.loss(), i-1, 256*i, p.IntN(9))
		}
	}},
	{"detectron2", 400, true, func(p *player) {
		p.print("[06/12 14:11:00 d2.engine.train_loop]: Starting training from iteration 0\n")
		for i := 9; i < 400; i += 10 {
			p.wait(0.6)
			p.print("[06/12 14:11:%02d d2.utils.events]:  eta: 0:00:%02d  iter: %d  total_loss: %.3f  loss_cls: %.4f  time: 0.0600  data_time: 0.00%d  lr: 0.00025  max_mem: 2%03dM\n", int(p.at)%60, int(float64(399-i)*0.06+0.5), i, p.loss(), p.loss(), p.IntN(9), p.IntN(999))
		}
	}},
	{"paddledetection", 6, true, func(p *player) {
		for e := range 6 {
			for i := 0; i < 100; i += 20 {
				p.wait(0.8)
				left := (5-e)*100 + 100 - i
				p.print("[06/12 14:11:%02d] ppdet.engine INFO: Epoch: [%d] [%3d/100] learning_rate: 0.000500 loss_xywh: %.6f loss: %.4f eta: 0:00:%02d batch_cost: 0.0401 data_cost: 0.0003 ips: 12.%d images/s\n", int(p.at)%60, e, i, p.loss(), p.loss(), int(float64(left)*0.04+0.5), p.IntN(9))
			}
		}
	}},
	{"axolotl", 3, true, func(p *player) {
		for i := range 4 {
			p.wait(0.4)
			p.bar("Tokenizing Prompts (num_proc=8): ", 1000*i, 3000)
		}
		p.print("\n[%s] [INFO] [axolotl.utils.trainer] total_num_tokens: 182_761\n[%s] [INFO] [axolotl.train] starting trainer\n", p.stamp(), p.stamp())
		p.bar("", 0, 90)
		for s := 1; s <= 90; s++ {
			p.wait(0.3)
			p.bar("", s, 90)
			if s%5 == 0 {
				p.print("\n{'loss': %.4f, 'grad_norm': %.3f, 'learning_rate': 1.9e-05, 'epoch': %.2f}\n", p.loss(), p.loss(), float64(s)/30)
			}
		}
	}},
	{"sheeprl", 32768, false, func(p *player) {
		for s := 0; s < 32768; {
			p.wait(0.25)
			s += 250 + p.IntN(150)
			p.print("Rank-0: policy_step=%d, reward_env_%d=%.1f\n", min(s, 32768), p.IntN(4), 100*p.Float64())
		}
	}},
	{"raytune", 20, true, func(p *player) {
		for i := range 41 {
			p.wait(0.8)
			done := i / 2
			p.print("== Status ==\nCurrent time: 2031-06-12 14:11:%02d (running for 00:00:%02d.%d)\nMemory usage on this node: 4.2/15.6 GiB\nResources requested: 1.0/16 CPUs, 0/1 GPUs, 0.0/8.11 GiB heap\nNumber of trials: 20/20 (%d PENDING, 1 RUNNING, %d TERMINATED)\n", int(p.at)%60, int(p.at)%60, p.IntN(9), 19-min(done, 19), done)
		}
	}},
	{"stable-baselines3", 40960, false, func(p *player) {
		for i := 1; i <= 20; i++ {
			p.wait(1.2)
			p.print("------------------------------------\n| rollout/           |             |\n|    ep_len_mean     | %.0f        |\n| time/              |             |\n|    fps             | %d          |\n|    iterations      | %d          |\n|    time_elapsed    | %d          |\n|    total_timesteps | %d          |\n| train/             |             |\n|    n_updates       | %d          |\n------------------------------------\n", 20+100*p.Float64(), 1600+p.IntN(99), i, int(p.at), i*2048, 10*(i-1))
		}
	}},
	{"optuna", 30, true, func(p *player) {
		for i := range 30 {
			p.wait(0.7)
			p.print("[I %s] Trial %d finished with value: %.6f and parameters: {'x': %.4f, 'n_layers': %d}. Best is trial %d with value: 0.1.\n", p.stamp(), i, p.loss(), p.loss(), 1+p.IntN(4), i/3)
			p.bar(fmt.Sprintf("Best trial: %d. Best value: 0.1: ", i/3), i+1, 30)
			p.print("\n")
		}
	}},
	{"xgboost", 200, false, func(p *player) {
		for i := 0; i < 200; i++ {
			p.wait(0.12)
			p.print("[%d]\ttrain-rmse:%.5f\teval-rmse:%.5f\n", i, p.loss(), p.loss())
		}
	}},
	{"lightgbm", 300, false, func(p *player) {
		p.print("[LightGBM] [Info] Total Bins 7650\n[LightGBM] [Info] Number of data points in the train set: 18000, number of used features: 30\n")
		for i := 10; i <= 300; i += 10 {
			p.wait(0.7)
			p.print("[%d]\tvalid_0's l2: %.5f\n", i, p.loss())
		}
	}},
	{"catboost", 100, true, func(p *player) {
		for i := range 100 {
			p.wait(0.25)
			p.print("%d:\tlearn: %.7f\ttest: %.7f\tbest: 0.51 (%d)\ttotal: %.2fs\tremaining: %.1fs\n", i, p.loss(), p.loss(), i, p.at, 0.25*float64(99-i))
		}
	}},
	{"forest", 100, true, func(p *player) {
		p.print("[Parallel(n_jobs=4)]: Using backend ThreadingBackend with 4 concurrent workers.\n")
		for i := range 100 {
			p.wait(0.25)
			p.print("building tree %d of 100\n", i+1)
		}
	}},
	{"spacy", 4000, false, func(p *player) {
		p.print("E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  ENTS_P  ENTS_R  SCORE\n---  ------  ------------  --------  ------  ------  ------  ------\n")
		for i := 0; i <= 4000; i += 200 {
			p.print("%3d  %6d  %12.2f  %8.2f  %6.2f  %6.2f  %6.2f  %6.2f\n", i/1000, i, 100*p.loss(), 100*p.loss(), 50*p.loss(), 50*p.loss(), 50*p.loss(), p.loss())
			p.wait(1.2)
		}
	}},
	{"kaldi", 40, true, func(p *player) {
		for i := range 40 {
			p.print("%s [steps/nnet3/chain/train.py:515 - train - INFO ] Iter: %d/40   Jobs: 2   Epoch: %.2f/4.0 (%.1f%% complete)   lr: 0.00%d\n", p.stamp(), i, float64(i)/10, 2.5*float64(i), 1000+p.IntN(999))
			p.wait(0.6)
		}
	}},
	{"espnet", 12, true, func(p *player) {
		for e := 1; e <= 12; e++ {
			p.print("[node7] %s (trainer:%d) INFO: %d/12epoch started\n", p.stamp(), 280, e)
			for i := 1; i <= 5; i++ {
				p.wait(0.4)
				p.print("[node7] %s (trainer:732) INFO: %depoch:train:%d-%dbatch: iter_time=1.2e-04, forward_time=0.1%d, loss=%.3f, acc=0.5%d, backward_time=0.2, train_time=0.9\n", p.stamp(), e, 50*i-49, 50*i, p.IntN(9), p.loss(), p.IntN(9))
			}
			p.wait(0.3)
			p.print("[node7] %s (trainer:338) INFO: %depoch results: [train] iter_time=1.2e-04, loss=%.3f, [valid] loss=%.3f, total_count=%d\n", p.stamp(), e, p.loss(), p.loss(), 250*e)
		}
	}},
	{"opennmt", 2000, true, func(p *player) {
		p.print("[%s INFO] Starting training on GPU: [0]\n[%s INFO] Start training loop and validate every 1000 steps...\n", p.stamp(), p.stamp())
		for s := 50; s <= 2000; s += 50 {
			p.wait(0.6)
			p.print("[%s INFO] Step %d/ 2000; acc: %.1f; ppl: %8.1f; xent: %.1f; lr: 0.00%d; sents: %d; bsz: 300/ 20%d/10; 12%03d/67%02d tok/s; %6d sec;\n", p.stamp(), s, 50*p.loss(), 10*p.loss(), p.loss(), p.IntN(99), 2000+p.IntN(99), p.IntN(9), p.IntN(999), p.IntN(99), int(p.at))
		}
	}},
	{"marian", 20000, false, func(p *player) {
		p.print("[2031-06-12 14:11:00] [config] after: 20Ku\n[2031-06-12 14:11:00] [config] disp-freq: 500\n[2031-06-12 14:11:00] [config] early-stopping: 10\n")
		for s := 500; s <= 20000; s += 500 {
			p.wait(0.6)
			p.print("[2031-06-12 14:11:%02d] Ep. %d : Up. %d : Sen. %d,%03d : Cost %.8f : Time %.2fs : %.2f words/s : gNorm %.4f\n", int(p.at)%60, 1+s/2600, s, (s%2600)*32/1000, p.IntN(1000), p.loss(), 0.6+0.1*p.Float64(), 9000*p.loss(), p.loss())
		}
	}},
	{"gromacs", 50000, true, func(p *player) {
		p.print("starting mdrun 'Protein in water'\n50000 steps,    100.0 ps.\n")
		for s := 0; s <= 50000; s += 1000 {
			p.print("\rstep %d, remaining wall clock time: %5d s          ", s, int(0.5+float64(50000-s)*0.0005))
			p.wait(0.5)
		}
	}},
	{"lammps", 5000, false, func(p *player) {
		p.print("Per MPI rank memory allocation (min/avg/max) = 3.427 | 3.427 | 3.427 Mbytes\n   Step          Temp          E_pair         TotEng\n")
		for s := 0; s <= 5000; s += 100 {
			p.print("%9d   %.7f  -%.7f  -%.7f\n", s, 2.5*p.loss(), 5*p.loss(), 5*p.loss())
			p.wait(0.5)
		}
	}},
	{"stan", 2000, true, func(p *player) {
		for i := 0; i <= 2000; i += 100 {
			kind := "Warmup"
			if i > 1000 {
				kind = "Sampling"
			}
			for c := 1; c <= 4; c++ {
				p.print("Chain %d Iteration: %4d / 2000 [%3d%%]  (%s) \n", c, max(i, 1), i/20, kind)
				p.wait(0.3)
			}
		}
	}},
	{"wgan", 25, true, func(p *player) {
		for e := range 25 {
			for i := range 10 {
				p.wait(0.1)
				p.print("[%d/25][%d/10][%d] Loss_D: %.6f Loss_G: -%.6f Loss_D_real: %.6f Loss_D_fake -%.6f\n", e, i, e*10+i+1, p.loss(), p.loss(), p.loss(), p.loss())
			}
		}
	}},
	{"gan", 20, true, func(p *player) {
		for e := range 20 {
			for i := range 10 {
				p.wait(0.12)
				p.print("[Epoch %d/20] [Batch %d/10] [D loss: %.6f, acc: %3d%%] [G loss: %.6f]\n", e, i, p.loss(), 50+p.IntN(50), p.loss())
			}
		}
	}},
	{"timm", 8, true, func(p *player) {
		p.print("Scheduled epochs: 8. LR stepped per epoch.\n")
		for e := range 8 {
			for i := 0; i < 100; i += 20 {
				p.wait(0.5)
				p.print("Train: %d [%4d/100 (%3d%%)]  Loss: %.3f (%.2f)  Time: 0.%ds,  %d.12/s  (0.025s, 40.9/s)  LR: 1.000e-04  Data: 0.00%d (0.004)\n", e, i, i, p.loss(), p.loss(), p.IntN(99), 30+p.IntN(20), p.IntN(9))
			}
			p.wait(0.4)
			p.print("Test: [   0/20]  Time: 0.1 (0.1)  Loss: %.4f (%.4f)\n", p.loss(), p.loss())
		}
	}},
	{"mmengine iterations", 4000, true, func(p *player) {
		for i := 100; i <= 4000; i += 100 {
			p.wait(0.6)
			p.print("2031/06/12 14:11:%02d - mmengine - INFO - Iter(train) [%5d/4000]  base_lr: 1.0e-02 lr: 1.0e-02  eta: 0:00:%02d  time: 0.0060  data_time: 0.0010  memory: 4%03d  loss: %.4f  decode.acc_seg: %.4f\n", int(p.at)%60, i, p.IntN(60), p.IntN(999), p.loss(), 50*p.loss())
		}
	}},
	{"folds", 5, true, func(p *player) {
		for f := 1; f <= 5; f++ {
			p.print("===== Fold %d/5 =====\n", f)
			for e := 1; e <= 10; e++ {
				p.wait(0.5)
				p.print("Epoch %d/10 - train_loss: %.4f - val_loss: %.4f\n", e, p.loss(), p.loss())
			}
		}
	}},
	{"estimator", 3000, false, func(p *player) {
		for s := 0; s <= 3000; s += 100 {
			p.print("INFO:tensorflow:loss = %.6f, step = %d (0.8%02d sec)\n", p.loss(), s, p.IntN(99))
			p.wait(0.8)
			p.print("INFO:tensorflow:global_step/sec: %.3f\n", 120+9*p.Float64())
		}
	}},
	{"episodes", 500, false, func(p *player) {
		for e := 10; e <= 500; e += 10 {
			p.wait(0.5)
			p.print("Episode %d\tAverage Score: %.2f\tEpsilon: %.3f\n", e, 20*p.loss(), 1/p.loss())
		}
	}},
	{"percent", 100, true, func(p *player) {
		for i := 2; i <= 100; i += 2 {
			p.wait(0.5)
			p.print("%s Training: %d%% complete, loss %.3f, gpu 9%d%%\n", p.stamp(), i, p.loss(), p.IntN(9))
		}
	}},
	{"t5x", 1000, false, func(p *player) {
		for i := 20; i <= 1000; i += 20 {
			p.wait(0.5)
			p.print("I0612 14:11:%02d.%06d 140%d train.py:88] [%d] accuracy=%.5f, loss=%.5f, steps_per_second=%.3f\n", int(p.at)%60, p.IntN(1e6), 3, i, p.Float64(), p.loss(), 40*p.loss())
		}
	}},
	{"thousands", 50100, true, func(p *player) {
		for i := 1; i <= 50; i++ {
			p.wait(0.5)
			p.print("tokens/s 1,2%02d | images %d.0k/50.1k | loss %.3f\n", p.IntN(99), i, p.loss())
		}
	}},
	{"nested bars", 10, true, func(p *player) {
		for e := range 11 {
			p.print("\rEpochs: %3d%%|%s| %d/10 [00:%02d<00:20,  2.4s/it]", 10*e, strings.Repeat("█", e), e, int(p.at)%60)
			if e == 10 {
				break
			}
			for i := range 13 {
				p.wait(0.2)
				p.print("\n\rTrain batches: %3d%%|%s| %d/12 [00:0%d<00:01,  5.1it/s]\x1b[A", 100*i/12, strings.Repeat("█", i/2), i, p.IntN(9))
			}
		}
	}},
	{"evaluated bar", 500, true, func(p *player) {
		for i := range 501 {
			p.wait(0.04)
			p.bar("Training: ", i, 500)
			if i%100 == 99 {
				p.print("\n")
				for k := range 11 {
					p.wait(0.1)
					p.print("\rEvaluating: %3d%%|%s| %d/10 [00:00<00:00, 10.2it/s]", 10*k, strings.Repeat("█", k), k)
				}
				p.print("\n{'eval_loss': %.4f, 'eval_runtime': 1.02, 'eval_samples_per_second': 31.%d}\n", p.loss(), p.IntN(9))
			}
		}
	}},
	{"old keras", 10, true, func(p *player) {
		for e := range 10 {
			p.print("Epoch %d/10\n", e+1)
			for i := 1; i <= 10; i++ {
				p.wait(0.2)
				p.print("%s%4d/1000 [%s>%s] - ETA: %ds - loss: %.4f - acc: %.4f", strings.Repeat("\b", 60), 100*i, strings.Repeat("=", 3*i-1), strings.Repeat(".", 30-3*i), (10-i)/5, p.loss(), p.Float64())
			}
			p.wait(0.3)
			p.print("%s1000/1000 [==============================] - 2s 2ms/step - loss: %.4f - val_loss: %.4f\n", strings.Repeat("\b", 60), p.loss(), p.loss())
		}
	}},
	{"configured", 25, true, func(p *player) {
		p.print("Namespace(batch_size=32, epochs=25, lr=0.001, log_interval=10, seed=7, workers=4)\n")
		for e := 1; e <= 25; e++ {
			for i := 10; i <= 40; i += 10 {
				p.wait(0.2)
				p.print("epoch %d step %d loss %.4f\n", e, i, p.loss())
			}
			p.wait(0.15)
			p.print("epoch %d val loss %.4f acc %.2f\n", e, p.loss(), 90+p.Float64())
		}
	}},
	{"tutorial", 12, false, func(p *player) {
		for e := 1; e <= 12; e++ {
			for i := 2000; i <= 12000; i += 2000 {
				p.wait(0.4)
				p.print("[%d, %5d] loss: %.3f\n", e, i, p.loss())
			}
		}
		p.print("Finished Training\n")
	}},
	{"evolution", 120, false, func(p *player) {
		p.print("gen\tnevals\tavg     \tstd    \tmin\tmax\n")
		for g := range 121 {
			p.wait(0.25)
			p.print("%d\t%d\t%.4f\t%.4f\t%d\t%d\n", g, 60+p.IntN(30), 50*p.loss(), p.loss(), 20+p.IntN(9), 60+p.IntN(9))
		}
	}},
	{"unbounded bar", 600, false, func(p *player) {
		for i := 1; i <= 600; i++ {
			p.wait(0.05)
			p.print("\r%dit [00:%02d, 19.%02dit/s, loss=%.3f]", i, int(p.at)%60, p.IntN(99), p.loss())
		}
	}},
	{"json lines", 800, true, func(p *player) {
		for i := 20; i <= 800; i += 20 {
			p.wait(0.6)
			p.print("{\"ts\": %.3f, \"level\": \"info\", \"step\": %d, \"max_steps\": 800, \"loss\": %.4f, \"tokens\": %d, \"gpu_mem\": 12%03d}\n", 1795444500+p.at, i, p.loss(), i*4096, p.IntN(999))
		}
	}},
	{"two ranks in turn", 30, true, func(p *player) {
		for e := 1; e <= 30; e++ {
			for i := range 4 {
				p.wait(0.2)
				for k := range 2 {
					p.at += 0.01
					p.print("[GPU%d] Epoch %d/30 | Batch %d/4 | Loss %.4f\n", k, e, i+1, p.loss())
				}
			}
		}
	}},
	{"diffusion", 400, true, func(p *player) {
		p.print("***** Running training *****\n  Num examples = 833\n  Num Epochs = 2\n  Instantaneous batch size per device = 4\n  Total train batch size (w. parallel, distributed & accumulation) = 4\n  Gradient Accumulation steps = 1\n  Total optimization steps = 400\n")
		for i := range 401 {
			p.print("\rSteps: %3d%%|%s| %d/400 [00:%02d<00:%02d, 16.20it/s, lr=1e-5, step_loss=0.%03d]", i/4, strings.Repeat("▊", i/40), i, int(p.at)%60, p.IntN(60), p.IntN(999))
			p.wait(0.06)
		}
	}},
	{"announced steps", 400, true, func(p *player) {
		p.print("***** Running training *****\n  Num examples = 833\n  Num Epochs = 4\n  Total optimization steps = 400\n  Number of trainable parameters = 1234567\n")
		for i := 10; i <= 400; i += 10 {
			p.wait(0.6)
			p.print("{'loss': %.4f, 'learning_rate': 2e-05, 'epoch': %.2f, 'step': %d}\n", p.loss(), float64(i)/100, i)
		}
	}},
}

// wrapped are the ways in which a log reaches a reader.
var wrapped = map[string]func(text string, line int) string{
	"": func(text string, _ int) string { return text },
	"srun --label": func(text string, _ int) string {
		return "0: " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n0: ") + "\n"
	},
	"docker": func(text string, _ int) string {
		b, _ := json.Marshal(map[string]string{"log": text, "stream": "stdout"})
		return string(b) + "\n"
	},
	"kubernetes": func(text string, line int) string {
		return fmt.Sprintf("2031-06-12T14:11:09.%09dZ stdout F %s\n", line, strings.TrimSuffix(text, "\n"))
	},
	"utf-16": func(text string, line int) string {
		var b []byte
		if line == 0 {
			b = []byte{0xff, 0xfe}
		}
		for _, u := range utf16.Encode([]rune(text)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	},
}

// verdict of a log that is followed, at a share of the way.
type verdict struct {
	silent, inside bool
	off            float64 // relative error
}

// watch follows a log as it grows, looking at it every so many seconds, and returns what was said
// at a quarter and half of the way. Early says that the end was announced before it came.
func watch(t *testing.T, events []event, units int, every float64, wrap func(string, int) string) (at [2]verdict, early bool, name string) {
	t.Helper()
	end := events[len(events)-1].at
	r := progress.Reader{Units: float64(units)}
	tr := Tracker{Job: estimate.Job{Epochs: units}}
	var lines progress.Splitter
	var last *Update
	next, shown := 0, 0
	for now := every; now < end; now += every {
		for ; next < len(events) && events[next].at <= now; next++ {
			lines.Split([]byte(wrap(events[next].text, next)), func(line string) { r.Line(line, now) })
		}
		u, updated, err := tr.Estimate(r.Marks())
		if err != nil {
			t.Fatal(err)
		}
		if updated {
			early = early || u.Left != nil && u.Left.Value <= 0
			if u.Total != nil {
				last = &u
			}
		}
		if shown < 2 && now >= []float64{0.25, 0.5}[shown]*end {
			at[shown] = verdict{silent: last == nil}
			if last != nil {
				at[shown].off, at[shown].inside = last.Total.Value/end-1, last.Refused == "" && last.Total.Contains(end)
			}
			shown++
		}
	}
	return at, early, r.Describe()
}

// TestShapes follows recreated logs, without flags and with the number that a user would
// give. The answers are right at a quarter and half of the way, within 15 %, except that
// a log which does not tell its length is silent without flags; no end is announced.
func TestShapes(t *testing.T) {
	for _, s := range shapes {
		for _, units := range []int{0, s.units} {
			t.Run(fmt.Sprintf("%s/%d", s.name, units), func(t *testing.T) {
				p := newPlayer(s.name)
				s.write(&p)
				at, early, name := watch(t, p.events, units, 0.2, wrapped[""])
				if early {
					t.Errorf("%s: the end is announced before it came", name)
				}
				for i, v := range at {
					share := []string{"25 %", "50 %"}[i]
					switch {
					case units == 0 && !s.alone:
						if !v.silent {
							t.Errorf("%s: %s off by %.0f %% of a length that it does not tell: %s", share, s.name, 100*v.off, name)
						}
					case v.silent:
						t.Errorf("%s: silent (%s)", share, name)
					case math.Abs(v.off) > 0.15:
						t.Errorf("%s: off by %.0f %% (%s)", share, 100*v.off, name)
					}
				}
				t.Logf("%s: %+v", name, at)
			})
		}
	}
}

// TestWrapped follows logs as job schedulers, containers and other systems pass them on.
func TestWrapped(t *testing.T) {
	chosen := map[string]bool{"gan": true, "mmengine iterations": true, "kaldi": true, "catboost": true, "opennmt": true, "espnet": true, "raytune": true}
	for _, s := range shapes {
		for how, wrap := range wrapped {
			if !chosen[s.name] {
				continue
			}
			p := newPlayer(s.name)
			s.write(&p)
			at, early, name := watch(t, p.events, 0, 0.2, wrap)
			if early || at[1].silent || math.Abs(at[1].off) > 0.15 {
				t.Errorf("%s, %s: %+v, early %v (%s)", s.name, how, at, early, name)
			}
		}
	}
	p := newPlayer("keras")
	shapes[0].write(&p)
	if at, _, name := watch(t, p.events, 0, 0.2, wrapped["utf-16"]); at[1].silent || math.Abs(at[1].off) > 0.15 {
		t.Errorf("keras in UTF-16: %+v (%s)", at, name)
	}
}
