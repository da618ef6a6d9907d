package slurm_test

import (
	"context"
	"log"
	"time"

	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/slurm"
)

func Example() {
	p, err := slurm.Open("state", slurm.Settings{
		Client:  &slurm.Client{Runner: slurm.Exec{}},
		Policy:  policy.Average{},
		Request: slurm.Request{Script: "service.sh", Nodes: 1, Limit: 48 * time.Hour},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	log.Print(p.Run(context.Background()))
}
