package setters

import (
	"context"
	"math"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// quotaView is what a setter has used of what they may.
type quotaView struct {
	Used     int64       `json:"used_bytes"`        // of files that only their versions have
	Allowed  int64       `json:"allowed_bytes"`     // 0 = any number
	Versions int32       `json:"versions_today"`    // since midnight UTC
	PerDay   int32       `json:"versions_a_day"`    // 0 = any number
	Saves    int32       `json:"saves_today"`       // in the browser, beside the versions
	MaxSaves int32       `json:"saves_a_day"`       // 0 = any number
	Sent     int64       `json:"sent_bytes"`        // of archives, today; as many may be as are allowed
	Setters  []sql.Usage `json:"setters,omitempty"` // of each, for staff
}

// Today says what somebody has sent on this day.
func (q quotaView) Today() locale.Sentence {
	if q.PerDay == 0 {
		return locale.Sentence{Key: "Today, by UTC, you have sent this many versions: %d. Further saves: %d.", Args: []any{q.Versions, q.Saves}}
	}
	return locale.Sentence{Key: "Today, by UTC, you have sent %d of %d versions, and %d of %d further saves.", Args: []any{q.Versions, q.PerDay, q.Saves, q.MaxSaves}}
}

// quota returns what somebody has used. Staff have no limits and see what others use.
func (s *Room) quota(ctx context.Context, v site.Viewer) (q quotaView, err error) {
	if q.Used, err = s.Store.SetterBytes(ctx, v.Name); err != nil {
		return q, err
	}
	today, err := s.Store.SetterToday(ctx, v.Name)
	if err != nil {
		return q, err
	}
	q.Versions, q.Saves, q.Sent = today.Versions, today.Saves, today.Bytes
	if v.Staff() {
		q.Setters, err = s.Store.SettersBytes(ctx, 200)
		return q, err
	}
	q.Allowed, q.PerDay, q.MaxSaves = s.Config.SetterQuota, s.Config.SetterVersions, s.maxSaves()
	return q, nil
}

// apiQuota handles GET /api/v1/quota.
func (s *Room) apiQuota(c *fiber.Ctx) error {
	q, err := s.quota(c.UserContext(), site.ViewerOf(c))
	if err != nil {
		return err
	}
	return c.JSON(q)
}

// hasRoom refuses a setter whose packages take as much room as they may.
func (s *Room) hasRoom(ctx context.Context, v site.Viewer) error {
	if s.Config.SetterQuota <= 0 {
		return nil
	}
	used, err := s.Store.SetterBytes(ctx, v.Name)
	if err != nil {
		return err
	}
	if used >= s.Config.SetterQuota {
		return site.Refuse(fiber.StatusRequestEntityTooLarge, "quota", "Your packages take %s, and may take %s.",
			"Ask staff to raise SETTER_QUOTA_MIB.", locale.Bytes(used), locale.Bytes(s.Config.SetterQuota))
	}
	return nil
}

// TakeVersion refuses a setter who has made as many versions today as they may, or whose packages take as much room;
// else it counts one more. An archive of some bytes is announced. Staff may make any number.
func (s *Room) TakeVersion(ctx context.Context, v site.Viewer, announced int64) error {
	if v.Staff() {
		return nil
	}
	if err := s.hasRoom(ctx, v); err != nil {
		return err
	}
	taken, err := s.Store.TakeVersion(ctx, v.Name, s.Config.SetterVersions, max(announced, 0), s.Config.SetterQuota)
	if err != nil || taken {
		return err
	}
	today, err := s.Store.SetterToday(ctx, v.Name)
	if err != nil {
		return err
	}
	f := site.Refuse(fiber.StatusTooManyRequests, "too_many_versions", "You have sent %d versions today, which is as many as a setter may.",
		"Send it again tomorrow, by UTC, or have staff send it.", today.Versions)
	if today.Versions < s.Config.SetterVersions {
		f = site.Refuse(fiber.StatusTooManyRequests, "sent_too_much", "With this package you would have sent more than %s today.",
			"Send it again tomorrow, by UTC, or have staff send it.", locale.Bytes(s.Config.SetterQuota))
	}
	f.RetryAfter = max(today.Left, time.Second)
	return f
}

// spent is what an order has taken of what a setter may make on a day.
type spent struct{ versions, saves int32 }

// savesPerVersion is how many further saves a setter has for each version of the day.
const savesPerVersion = 10

func (s *Room) maxSaves() int32 {
	return min(s.Config.SetterVersions, math.MaxInt32/savesPerVersion) * savesPerVersion
}

// takeSave counts one more save of a problem in the browser. One that follows another
// by the same setter soon is no version of the day, as long as there are not too many.
func (s *Room) takeSave(ctx context.Context, v site.Viewer, slug string) (spent, error) {
	if v.Staff() {
		return spent{}, nil
	}
	if err := s.hasRoom(ctx, v); err != nil {
		return spent{}, err
	}
	switch taken, err := s.Store.TakeSave(ctx, slug, v.Name, s.maxSaves(), s.Config.SetterQuota); {
	case err != nil:
		return spent{}, err
	case taken:
		return spent{saves: 1}, nil
	}
	return spent{versions: 1}, s.TakeVersion(ctx, v, 0)
}

// CountVersion counts what came of a version that was taken: its archive, and none at all if it came to nothing.
func (s *Room) CountVersion(ctx context.Context, v site.Viewer, bytes int64, nothing bool) error {
	return s.countSpent(ctx, v, spent{versions: 1}, bytes, nothing)
}

// countSpent is CountVersion for what was taken as a version or a save.
func (s *Room) countSpent(ctx context.Context, v site.Viewer, taken spent, bytes int64, nothing bool) error {
	if v.Staff() || bytes == 0 && !nothing {
		return nil
	}
	if !nothing {
		taken = spent{}
	}
	return s.Store.CountArchive(context.WithoutCancel(ctx), v.Name, bytes, taken.versions, taken.saves)
}
