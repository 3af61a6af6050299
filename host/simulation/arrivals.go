package simulation

import (
	"math"
	"math/rand/v2"
	"time"
)

// times returns the moments at which jobs come, in order.
func (a Arrivals) times(rng *rand.Rand) (out []float64) {
	if len(a.Times) > 0 {
		for _, t := range a.Times {
			out = append(out, t.Seconds())
		}
		return out
	}
	end := a.Duration.Seconds()
	if a.Pattern == Constant {
		for i := range int(a.Rate * end) {
			out = append(out, float64(i)/a.Rate)
		}
		return out
	}
	// Thinning: come at the highest rate, and stay with the probability that the
	// rate of the moment is of it (Lewis and Shedler 1979).
	top := a.Rate
	if a.Pattern == Daily || a.Pattern == Contest {
		top *= a.Peak
	}
	for t := rng.ExpFloat64() / top; t < end; t += rng.ExpFloat64() / top {
		if rng.Float64()*top < a.rate(t) {
			out = append(out, t)
		}
	}
	return out
}

// rate is how many jobs per second come at t; its mean is Rate.
func (a Arrivals) rate(t float64) float64 {
	switch a.Pattern {
	case Daily:
		const day = float64(24 * time.Hour / time.Second)
		return a.Rate * (1 - (a.Peak-1)*math.Cos(2*math.Pi*t/day))
	case Contest:
		// Reading comes first, and the last minutes are the busiest. What is in
		// between makes the mean.
		const slow, reading, rush = 0.2, 0.05, 0.1
		level := (1 - slow*reading - a.Peak*rush) / (1 - reading - rush)
		switch x := t / a.Duration.Seconds(); {
		case level < 0: // so high a peak leaves nothing for the rest
			if x >= 1-rush {
				return a.Rate / rush
			}
			return 0
		case x < reading:
			return a.Rate * slow
		case x >= 1-rush:
			return a.Rate * a.Peak
		default:
			return a.Rate * level
		}
	case Constant, Poisson:
	}
	return a.Rate
}

// draw returns one service time.
func (s Service) draw(rng *rand.Rand) float64 {
	mean := s.Mean.Seconds()
	switch s.Distribution {
	case Exponential:
		return mean * rng.ExpFloat64()
	case LogNormal:
		v := math.Log1p(s.CV * s.CV) // variance of the logarithm
		return mean * math.Exp(rng.NormFloat64()*math.Sqrt(v)-v/2)
	case Fixed:
	}
	return mean
}
