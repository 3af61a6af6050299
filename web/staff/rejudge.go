package staff

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// rejudge has the submission that the address names judged again, and returns its new generation.
func (s *Room) rejudge(c *fiber.Ctx) (*judge.Submission, int32, error) {
	sub, err := s.job.SubmissionFor(c)
	if err != nil {
		return nil, 0, err
	}
	generations, err := s.Store.Rejudge(c.UserContext(), []int64{sub.JobID}, judge.LaneRejudge, site.ViewerOf(c).Name)
	if err != nil {
		return nil, 0, fmt.Errorf("rejudge submission: %w", err)
	}
	return sub, generations[sub.JobID], nil
}

func (s *Room) rejudgeForm(c *fiber.Ctx) error {
	sub, _, err := s.rejudge(c)
	if err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneJudgedAgain, site.SubmissionURL(sub.JobID))
}

func (s *Room) apiRejudge(c *fiber.Ctx) error {
	sub, generation, err := s.rejudge(c)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"job_id": sub.JobID, "generation": generation})
}
