package linear

import (
	"context"
	"math"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

// Reference: R 4.2.2, MASS 7.3-58, rlm(..., maxit=1000, acc=1e-13).
func TestHuber(t *testing.T) {
	for _, c := range []struct {
		name string
		s    regression.Samples
		h    Huber
		want []float64
	}{
		{"rlm(stack.loss ~ ., stackloss)", stackloss, Huber{}, []float64{-41.02648537329497458, 0.82938577025384941, 0.92605941554863269, -0.12784631796541857}},
		{"rlm(dist ~ speed, cars)", cars, Huber{}, []float64{-16.526347643285213, 3.7733126797965459}},
		{"rlm(dist ~ speed, cars, weights=1/speed)", weighted(cars, func(i int) float64 { return 1 / cars.X[i] }), Huber{}, []float64{-12.3321018374624636, 3.5243503224341537}},
		{"rlm(dist ~ 0+speed, cars, k=1)", cars, Huber{NoIntercept: true, K: 1}, []float64{0, 2.7238101090278097}},
	} {
		m, err := c.h.Fit(context.Background(), c.s)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		closeAll(t, c.name, m, c.want, 1e-8)
		if len(m.Warnings()) != 0 {
			t.Errorf("%s: %v", c.name, m.Warnings())
		}
	}
	m, err := Huber{Rounds: 1}.Fit(context.Background(), stackloss)
	if err != nil || len(m.Warnings()) != 1 {
		t.Errorf("one round: %v, warnings %v", err, m.Warnings())
	}
}

// Eight of ten samples lie on y = 3 + 2x; that line is the answer.
func TestRobustLines(t *testing.T) {
	s := regression.Samples{Features: 1}
	for i := range 10 {
		x := float64(i)
		y := 3 + 2*x
		if i%5 == 3 {
			y += 500
		}
		s.X, s.Y = append(s.X, x), append(s.Y, y)
	}
	for name, f := range map[string]solver{"huber": Huber{}, "theil-sen": TheilSen{}} {
		m, err := f.Fit(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		closeAll(t, name, m, []float64{3, 2}, 1e-6)
	}
	m, _ := OLS{}.Fit(context.Background(), s)
	if math.Abs(m.Intercept-3) < 10 {
		t.Errorf("the outliers do not bend least squares (intercept %v): they prove nothing", m.Intercept)
	}
}
