package site

import (
	"context"
	"sync"
	"time"

	"deepoj/sql"
)

// kept is an answer that serves everybody for a while, because the question costs
// more than most: as much as the queue is long.
type kept[T any] struct {
	ask func(context.Context) (T, error)
	age time.Duration

	mu     sync.Mutex
	asked  time.Time
	answer T
	err    error // of the last question
}

func (k *kept[T]) Read(ctx context.Context) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked.IsZero() || time.Since(k.asked) >= k.age || k.err != nil {
		k.answer, k.err = k.ask(ctx)
		k.asked = time.Now()
	}
	return k.answer, k.err
}

// KeptTwice is an answer for staff and one for everybody else.
type KeptTwice[T any] struct{ staff, others kept[T] }

// Of returns what is kept for v.
func (k *KeptTwice[T]) Of(v Viewer) *kept[T] {
	if v.Staff() {
		return &k.staff
	}
	return &k.others
}

// Believe says how long the answers are believed.
func (k *KeptTwice[T]) Believe(age time.Duration) { k.staff.age, k.others.age = age, age }

// KeepTwice keeps what readers of both kinds answer.
func KeepTwice[T any](store *sql.Site, ask func(sql.Reader, context.Context) (T, error), age time.Duration) *KeptTwice[T] {
	k := &KeptTwice[T]{}
	for staff, one := range map[bool]*kept[T]{true: &k.staff, false: &k.others} {
		one.ask = func(ctx context.Context) (T, error) { return ask(store.For(staff), ctx) }
	}
	k.Believe(age)
	return k
}

// depthAge is how long a count of the whole queue is believed.
const depthAge = 10 * time.Second
