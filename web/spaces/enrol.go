package spaces

import (
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

const (
	mostInvited     = 10_000 // by one link
	mostInvitedDays = 365
	maxInviteLabel  = 100
)

// invitationDays are the lives of a link that the form offers.
var invitationDays = []int{1, 7, 30, 120, 365}

// invitationJSON is a link that invites into a space, without its address.
type invitationJSON struct {
	ID      int64      `json:"id"`
	Label   string     `json:"label"`
	By      string     `json:"created_by"`
	Created time.Time  `json:"created_at"`
	Expires time.Time  `json:"expires_at"`
	Most    int32      `json:"most"` // people who may come by it
	Used    int32      `json:"used"`
	Revoked *time.Time `json:"revoked_at"`
	Works   bool       `json:"works"`
}

// newInvitationJSON is one that was just made, with its address, which nobody can read again.
type newInvitationJSON struct {
	invitationJSON
	URL string `json:"url"`
}

func publicInvitation(i judge.Invitation) invitationJSON {
	return invitationJSON{i.ID, i.Label, i.By, i.Created, i.Expires, i.Most, i.Used, i.Revoked, i.Works}
}

// invite makes a link that works for some days and people.
func (s *Room) invite(c *fiber.Ctx, label string, days, most int) (made judge.Invitation, url string, err error) {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return made, "", err
	}
	var wrong site.WrongFields
	if label = strings.TrimSpace(label); label == "" || len(label) > maxInviteLabel || people.CheckDisplayName(label) != nil {
		wrong.Add(site.WrongField("label", site.ReasonInvalid, "Say in one line of up to %d bytes whom the link is for.", maxInviteLabel))
	}
	if days < 1 || days > mostInvitedDays {
		wrong.Add(site.WrongField("days", site.ReasonInvalid, "A link works for 1 to %d days.", mostInvitedDays))
	}
	if most < 1 || most > mostInvited {
		wrong.Add(site.WrongField("most", site.ReasonInvalid, "1 to %d people may come by a link.", mostInvited))
	}
	if s.Config.PublicURL == "" {
		wrong.Add(site.WrongField("label", "not_allowed", "This server does not know its own address: whoever runs it sets PUBLIC_URL."))
	}
	if err := wrong.Err(); err != nil {
		return made, "", err
	}
	token := people.NewToken(16)
	made, err = s.Store.MakeInvitation(c.UserContext(), space.ID, people.HashToken(token), judge.Invitation{
		Label: label, By: site.ViewerOf(c).Name, Expires: time.Now().Add(time.Duration(days) * 24 * time.Hour), Most: int32(most),
	})
	return made, s.Config.PublicURL + peopleroom.JoinPath + "?t=" + token, err
}

// inviteForm handles POST /spaces/:space/invitations. The link is on the page that answers and nowhere else.
func (s *Room) inviteForm(c *fiber.Ctx) error {
	view := spaceMembersView{Role: judge.SpaceContestant, Invited: invitedForm{Label: c.FormValue("label")}}
	view.Invited.For, _ = strconv.Atoi(c.FormValue("days")) // 0 is refused
	view.Invited.Most, _ = strconv.Atoi(c.FormValue("most"))
	made, url, err := s.invite(c, view.Invited.Label, view.Invited.For, view.Invited.Most)
	if err == nil {
		return s.showMembers(c, fiber.StatusCreated, spaceMembersView{Role: judge.SpaceContestant, Invited: invitedForm{Made: &made, URL: url}})
	}
	if view.Invited.Fault = s.Explain(c.UserContext(), err); view.Invited.Fault.Field == "" {
		return err
	}
	return s.showMembers(c, view.Invited.Fault.Status, view)
}

// invitedForm is the part of the page of members that makes and lists links.
type invitedForm struct {
	Rows []judge.Invitation
	Days []int

	Label     string
	For, Most int
	Fault     *site.Fault
	Made      *judge.Invitation
	URL       string
}

// fill fills what a form does not bring back.
func (f *invitedForm) fill(rows []judge.Invitation) {
	f.Rows, f.Days = rows, invitationDays
	if f.Fault == nil {
		f.For, f.Most = 30, 200
	}
}

// revokeInvitationForm handles POST /spaces/:space/invitations/:id/revoke.
func (s *Room) revokeInvitationForm(c *fiber.Ctx) error {
	if err := s.revokeInvitation(c); err != nil {
		return err
	}
	return c.Redirect(site.SpaceURL(c.Params("space"))+"/members#invite", fiber.StatusSeeOther)
}

func (s *Room) revokeInvitation(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	id, err := site.IDOf(c)
	if err != nil {
		return err
	}
	return s.Store.RevokeInvitation(c.UserContext(), space.ID, id, site.ViewerOf(c).Name)
}

// mostInvitations are as many as anybody will make for a space.
const mostInvitations = 10_000

// apiInvitations handles GET /api/v1/spaces/:space/invitations.
func (s *Room) apiInvitations(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	found, err := s.Store.Invitations(c.UserContext(), space.ID, mostInvitations)
	if err != nil {
		return err
	}
	out := make([]invitationJSON, len(found))
	for n, i := range found {
		out[n] = publicInvitation(i)
	}
	page, next, err := site.PageOf(c, "before", out, func(i invitationJSON) string { return strconv.FormatInt(i.ID, 10) })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"invitations": page, "next": next})
}

// apiInvite handles POST /api/v1/spaces/:space/invitations with {"label", "days", "most"}.
func (s *Room) apiInvite(c *fiber.Ctx) error {
	if _, err := s.SpaceFor(c, people.ManageSpace); err != nil { // before the body says anything
		return err
	}
	f, err := site.ReadFields(c, "label", "days", "most")
	if err != nil {
		return err
	}
	label, days, most := f.Text("label"), 30, 200
	f.Value("days", "a whole number", &days)
	f.Value("most", "a whole number", &most)
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	made, url, err := s.invite(c, label, days, most)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(newInvitationJSON{publicInvitation(made), url})
}

// apiRevokeInvitation handles DELETE /api/v1/spaces/:space/invitations/:id.
func (s *Room) apiRevokeInvitation(c *fiber.Ctx) error {
	if err := s.revokeInvitation(c); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// importTarget is the space that a list of people is for, whose staff import it.
func (s *Room) importTarget(c *fiber.Ctx) (peopleroom.ImportTarget, error) {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return peopleroom.ImportTarget{}, err
	}
	v := site.ViewSpace(space, site.ViewerOf(c))
	return peopleroom.ImportTarget{Space: &v}, nil
}

// importPage handles GET /spaces/:space/import.
func (s *Room) importPage(c *fiber.Ctx) error {
	t, err := s.importTarget(c)
	if err != nil {
		return err
	}
	return s.people.ShowImport(c, t)
}

// importForm handles POST /spaces/:space/import.
func (s *Room) importForm(c *fiber.Ctx) error {
	t, err := s.importTarget(c)
	if err != nil {
		return err
	}
	return s.people.ImportForm(c, t)
}

// apiImport handles POST /api/v1/spaces/:space/import.
func (s *Room) apiImport(c *fiber.Ctx) error {
	t, err := s.importTarget(c)
	if err != nil {
		return err
	}
	return s.people.APIImport(c, t)
}
