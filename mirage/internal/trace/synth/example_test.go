package synth_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/foretime/foretime/mirage/internal/trace/synth"
)

func ExampleProfile_Generate() {
	jobs, err := synth.Default().Generate(context.Background(), synth.Settings{Jobs: 5000, Start: 1700000000, Zone: time.UTC, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(jobs), "jobs")
	// Output:
	// 5000 jobs
}
