package spaces

import (
	"html/template"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/job"
	"deepoj/web/people"
	"deepoj/web/site"
)

// Words are what the templates of this room call.
var Words = template.FuncMap{"label": placeLabel}

// What is asked for, where it has to be confirmed.
const (
	makesSpaceRole = "give somebody more rights in a space than a contestant's"
	deletesSpace   = "delete a space"
)

// spaceChange is what may be sent of a space. The required fields have to be.
func spaceChange(required ...string) fiber.Map {
	out := fiber.Map{}
	for name, value := range map[string]any{
		"slug": "", "title": "", "description": "", "opens_at": (*time.Time)(nil), "closes_at": (*time.Time)(nil), "languages": []string{},
		"max_source_kib": 0, "max_waiting": 0, "per_minute": 0, "listed": false,
	} {
		switch {
		case slices.Contains(required, name):
			out[name] = value
		case name != "slug":
			out["?"+name] = value
		}
	}
	return out
}

// Addresses are the addresses of courses and contests.
func (s *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "GET /spaces", For: site.Guest, By: s.spacesPage},
		{Route: "POST /spaces", For: site.Staff, By: s.createSpaceForm},
		{Route: "GET /spaces/:space", For: site.Guest, By: s.spacePage},
		{Route: "GET /spaces/:space/submissions", For: site.Guest, By: s.spaceSubmissionsPage},
		{Route: "POST /spaces/:space/problems", For: site.Guest, By: s.putProblemForm},
		{Route: "GET /spaces/:space/print", For: site.Guest, By: s.printPage},
		{Route: "POST /spaces/:space/problems/:slug/remove", For: site.Guest, Asks: "take the problem :slug out of the space :space", By: s.removeProblemForm},
		{Route: "GET /spaces/:space/members", For: site.Guest, By: s.spaceMembersPage},
		{Route: "POST /spaces/:space/members", For: site.Guest, By: s.putMembersForm},
		{Route: "POST /spaces/:space/members/:name/remove", For: site.Guest, Asks: "take :name out of the space :space", By: s.removeMemberForm},
		{Route: "GET /spaces/:space/import", For: site.Guest, By: s.importPage},
		{Route: "POST /spaces/:space/import", For: site.Guest, By: s.importForm},
		{Route: "POST /spaces/:space/invitations", For: site.Guest, By: s.inviteForm},
		{Route: "POST /spaces/:space/invitations/:id/revoke", For: site.Guest, By: s.revokeInvitationForm},
		{Route: "GET /spaces/:space/settings", For: site.Guest, By: s.spaceSettingsPage},
		{Route: "POST /spaces/:space/settings", For: site.Guest, By: s.updateSpaceForm},
		{Route: "POST /spaces/:space/delete", For: site.Guest, Asks: "delete the space :space", Confirm: deletesSpace, OrKey: true, By: s.deleteSpaceForm},

		{Route: "GET /api/v1/spaces", For: site.Guest, Does: "Courses and contests, newest first: those that are listed or one's own, or all for staff", Query: "before limit", Out: fiber.Map{"spaces": []spaceJSON{}, "next": (*string)(nil)}, By: s.apiSpaces},
		{Route: "POST /api/v1/spaces", For: site.Staff, Does: "Make a space", In: spaceChange("slug", "title"), Status: 201, Out: spaceJSON{}, By: s.apiCreateSpace},
		{Route: "GET /api/v1/spaces/:space", For: site.Guest, Does: "A space", Out: spaceJSON{}, By: s.apiSpace},
		{Route: "PATCH /api/v1/spaces/:space", For: site.Guest, Does: "Change settings, as staff of the space; what is not sent stays", In: spaceChange(), Out: spaceJSON{}, By: s.apiUpdateSpace},
		{Route: "DELETE /api/v1/spaces/:space", For: site.Guest, Confirm: deletesSpace, OrKey: true, Does: "Delete a space that nobody has handed anything in to, as its staff", Status: 204, By: s.apiDeleteSpace},
		{Route: "GET /api/v1/spaces/:space/members", For: site.Guest, Does: "Members by name, for staff of the space", Query: "after limit", Out: fiber.Map{"members": []spaceMemberJSON{}, "next": (*string)(nil)}, By: s.apiSpaceMembers},
		{Route: "POST /api/v1/spaces/:space/members", For: site.Guest, Does: "Give accounts a role in a space, as its staff: contestant, setter or staff", In: fiber.Map{"names": []string{}, "?role": ""}, Out: spaceJSON{}, By: s.apiPutSpaceMembers},
		{Route: "DELETE /api/v1/spaces/:space/members/:name", For: site.Guest, Does: "Take somebody out of a space, as its staff", Status: 204, By: s.apiRemoveSpaceMember},
		{Route: "POST /api/v1/spaces/:space/import", For: site.Guest, Does: "Make accounts for a space from a table with the columns name, display_name, email, role and password, as its staff, all or none; what is wrong is said for each line", In: people.ImportIn, Out: people.ImportedJSON{}, By: s.apiImport},
		{Route: "GET /api/v1/spaces/:space/invitations", For: site.Guest, Does: "The links that invite into a space, newest first, for its staff", Query: "before limit", Out: fiber.Map{"invitations": []invitationJSON{}, "next": (*string)(nil)}, By: s.apiInvitations},
		{Route: "POST /api/v1/spaces/:space/invitations", For: site.Guest, Does: "Make a link by which people become contestants of a space, as its staff", In: fiber.Map{"label": "", "?days": 0, "?most": 0}, Status: 201, Out: newInvitationJSON{}, By: s.apiInvite},
		{Route: "DELETE /api/v1/spaces/:space/invitations/:id", For: site.Guest, Does: "Have such a link refused, as staff of the space", Status: 204, By: s.apiRevokeInvitation},
		{Route: "GET /api/v1/spaces/:space/problems", For: site.Guest, Does: "Problems of a space in order, for members once it has opened", Query: "after limit", Out: fiber.Map{"problems": []spaceProblemJSON{}, "next": (*string)(nil)}, By: s.apiSpaceProblems},
		{Route: "POST /api/v1/spaces/:space/problems", For: site.Guest, Does: "Add a problem, or give it another place and points, as setter of the space", In: fiber.Map{"problem": "", "?place": 0, "?points": (*float64)(nil)}, Out: fiber.Map{"problems": []spaceProblemJSON{}, "next": (*string)(nil)}, By: s.apiPutSpaceProblem},
		{Route: "DELETE /api/v1/spaces/:space/problems/:slug", For: site.Guest, Does: "Take a problem out of a space, as its setter", Status: 204, By: s.apiRemoveSpaceProblem},
		{Route: "GET /api/v1/spaces/:space/scores", For: site.Guest, Does: "What each contestant achieved, the best first, for members", Query: "after limit", Out: fiber.Map{"scores": []spaceScoreJSON{}, "next": (*string)(nil)}, By: s.apiSpaceScores},
		{Route: "GET /api/v1/spaces/:space/submissions", For: site.Guest, Does: "Submissions of a space, newest first: one's own, or all for its staff", Query: "author problem language verdict before limit", Out: fiber.Map{"submissions": []job.SubmissionJSON{}, "next": site.Cursor}, By: s.apiSpaceSubmissions},
	}
}
