package provision_test

import (
	"context"
	"log"
	"time"

	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/provision"
	"github.com/foretime/foretime/mirage/internal/slurmview"
)

func Example() {
	p, err := provision.Open("state", provision.Settings{
		Client:  &slurmview.Client{Runner: slurmview.Exec{}},
		Policy:  policy.Average{},
		Request: provision.Request{Script: "service.sh", Nodes: 1, Limit: 48 * time.Hour},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	log.Print(p.Run(context.Background()))
}
