package staff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// numbersOf reads a cursor that is whole numbers with dots between them, as many as one of the counts; nil = none was sent.
func numbersOf(c *fiber.Ctx, name string, counts ...int) ([]int64, error) {
	text := c.Query(name)
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text, ".")
	numbers := make([]int64, len(parts))
	for i, part := range parts {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || !slices.Contains(counts, len(parts)) {
			return nil, site.WrongField(name, site.ReasonInvalid, "The cursor has to be the next of another answer, not %q.", site.Shorten(text))
		}
		numbers[i] = n
	}
	return numbers, nil
}

// behindLetter reads the place behind which a list of dead letters begins: JOB.GENERATION, or the number of a job.
func behindLetter(c *fiber.Ctx) (p sql.LetterPlace, err error) {
	n, err := numbersOf(c, "before", 1, 2)
	if err != nil || n == nil {
		return p, err
	}
	if p.JobID = n[0]; len(n) == 2 {
		p.Generation = int32(min(n[1], 1<<31-1))
	}
	if p.JobID < 1 || p.Generation < 0 {
		return p, site.WrongField("before", site.ReasonInvalid, "The cursor has to be a positive whole number.")
	}
	return p, nil
}

// nextLetters is the cursor behind a page of dead letters; nil = it was the last.
func nextLetters(page []sql.DeadLetter, limit int) *string {
	if len(page) < limit {
		return nil
	}
	last := page[len(page)-1]
	return new(fmt.Sprintf("%d.%d", last.JobID, last.Generation))
}

// behindWaiting reads the place in the queue behind which a list of what waits begins. It is that of a job that waited
// there, and stays one when the job does not wait any more.
func behindWaiting(c *fiber.Ctx) (w judge.Waiting, err error) {
	n, err := numbersOf(c, "after", 5)
	if err != nil || n == nil {
		return w, err
	}
	state := "R"
	if n[0] == 0 {
		state = "D"
	}
	return judge.Waiting{State: state, Lane: judge.Lane(int16(n[1] + 1)), Priority: int32(n[2]), Rank: time.UnixMicro(n[3]), JobID: max(n[4], 1)}, nil
}

// nextWaiting is the cursor behind a page of what waits; nil = it was the last.
func nextWaiting(page []judge.Waiting, limit int) *string {
	if len(page) < limit {
		return nil
	}
	last, undelivered := page[len(page)-1], 1
	if last.State == "D" {
		undelivered = 0
	}
	return new(fmt.Sprintf("%d.%d.%d.%d.%d", undelivered, last.Lane.Number(), last.Priority, last.Rank.UnixMicro(), last.JobID))
}
