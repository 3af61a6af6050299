package rounds

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// deletesRound is what is asked for, where it has to be confirmed.
const deletesRound = "delete a round"

// givesVerdict is likewise.
const givesVerdict = "set a verdict by hand"

// roundIn is what may be sent of a round. The required fields have to be.
func roundIn(required ...string) fiber.Map {
	out := fiber.Map{}
	for name, value := range map[string]any{
		"code": "", "title": "", "formal_name": "", "kind": "", "format": "", "settings": json.RawMessage(nil), "starts_at": (*time.Time)(nil), "duration_ms": (*int64)(nil),
		"freeze_ms": (*int64)(nil), "thaw_at": (*time.Time)(nil), "public_runs": false, "practice": false,
	} {
		switch {
		case slices.Contains(required, name):
			out[name] = value
		case name != "code":
			out["?"+name] = value
		}
	}
	return out
}

// list is a part of a list, and its cursor.
func list(name string, of any) fiber.Map { return fiber.Map{name: of, "next": (*string)(nil)} }

// Addresses are the addresses of rounds.
func (s *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "GET /rounds/:round", For: site.Guest, By: s.roundPage},
		{Route: "GET /spaces/:space/rounds", For: site.Guest, By: s.roundsPage},
		{Route: "POST /spaces/:space/rounds", For: site.Guest, By: s.createForm},
		{Route: "GET /rounds/:round/teams/:code", For: site.Guest, By: s.teamPage},
		{Route: "GET /rounds/:round/results", For: site.Guest, By: s.resultsPage},
		{Route: "GET /rounds/:round/problems", For: site.Guest, By: s.deskPage},
		{Route: "GET /rounds/:round/resolver", For: site.Guest, By: s.resolverPage},
		{Route: "GET /rounds/:round/certificates", For: site.Guest, Query: "after", By: s.certificatesPage},
		{Route: "GET /rounds/:round/certificates/:code", For: site.Guest, By: s.certificate},
		{Route: "GET /rounds/:round/board.csv", For: site.Guest, By: s.export("text/csv; charset=utf-8", ".csv", asCSV)},
		{Route: "GET /rounds/:round/results.tsv", For: site.Guest, By: s.export("text/tab-separated-values; charset=utf-8", "-results.tsv", asResults)},
		{Route: "GET /rounds/:round/ranklist.json", For: site.Guest, By: s.export("application/json", ".srk.json", asRanklist)},
		{Route: "GET /rounds/:round/clarifications", For: site.Guest, By: s.clarifyPage},
		{Route: "POST /rounds/:round/clarifications", For: site.Guest, By: s.clarifyForm},
		{Route: "POST /rounds/:round/clarifications/:code/close", For: site.Guest, By: s.closeForm},
		{Route: "GET /spaces/:space/participants", For: site.Guest, By: s.teamsPage},
		{Route: "POST /spaces/:space/participants", For: site.Guest, By: s.teamsForm},
		{Route: "POST /spaces/:space/logos", For: site.Guest, By: s.logoForm},
		{Route: "GET /rounds/:round/staff", For: site.Guest, By: s.staffPage},
		{Route: "POST /rounds/:round/settings", For: site.Guest, By: s.settingsForm},
		{Route: "POST /rounds/:round/start", For: site.Guest, Asks: "begin the round :round now", By: s.formAct("round_start", startNow)},
		{Route: "POST /rounds/:round/pause", For: site.Guest, By: s.formAct("round_pause", pauseCountdown)},
		{Route: "POST /rounds/:round/resume", For: site.Guest, By: s.formAct("round_resume", resumeCountdown)},
		{Route: "POST /rounds/:round/extend", For: site.Guest, By: s.extendForm},
		{Route: "POST /rounds/:round/freeze", For: site.Guest, By: s.formAct("round_freeze", freezeNow)},
		{Route: "POST /rounds/:round/unfreeze", For: site.Guest, Asks: "show everybody what is hidden in the round :round while it goes on", By: s.formAct("round_unfreeze", unfreeze)},
		{Route: "POST /rounds/:round/thaw", For: site.Guest, Asks: "show everybody what is hidden in the round :round, for good", By: s.formAct("round_thaw", thawNow)},
		{Route: "POST /rounds/:round/finalize", For: site.Guest, Asks: "have the result of the round :round stand", By: s.finalizeForm},
		{Route: "POST /rounds/:round/reopen", For: site.Guest, By: s.reopenForm},
		{Route: "POST /rounds/:round/removed", For: site.Guest, By: s.removedForm},
		{Route: "POST /rounds/:round/removed/:id/undo", For: site.Guest, By: s.giveBackForm},
		{Route: "POST /rounds/:round/ignored", For: site.Guest, By: s.ignoreForm},
		{Route: "POST /rounds/:round/ignored/:id/count", For: site.Guest, By: s.countForm},
		{Route: "POST /rounds/:round/verdicts", For: site.Guest, Confirm: givesVerdict, OrKey: true, By: s.overrideForm},
		{Route: "POST /rounds/:round/tokens", For: site.Guest, Asks: "spend a token on the submission", By: s.spendForm},
		{Route: "POST /rounds/:round/adjustments", For: site.Guest, By: s.adjustForm},
		{Route: "POST /rounds/:round/problems", For: site.Guest, By: s.problemForm},
		{Route: "POST /rounds/:round/problems/:slug/remove", For: site.Guest, Asks: "take the problem :slug out of the round :round", By: s.removeProblemForm},
		{Route: "POST /rounds/:round/entries", For: site.Guest, By: s.enterForm},
		{Route: "POST /rounds/:round/entries/:code/remove", For: site.Guest, Asks: "take :code out of the round :round", By: s.leaveForm},
		{Route: "POST /rounds/:round/delete", For: site.Guest, Asks: "delete the round :round", Confirm: deletesRound, OrKey: true, By: s.deleteForm},

		{Route: "GET /api/v1/rounds", For: site.Guest, Does: "Contests and assignments, newest first: those of a space, or of all spaces that one may see", Query: "space before limit", Out: list("rounds", []roundJSON{}), By: s.apiRounds},
		{Route: "POST /api/v1/spaces/:space/rounds", For: site.Guest, Does: "Make a round in a space, as its staff", In: roundIn("code", "title"), Status: 201, Out: roundJSON{}, By: s.apiCreate},
		{Route: "GET /api/v1/rounds/:round", For: site.Guest, Does: "A round, with where it stands in its time", Out: roundJSON{}, By: s.apiRound},
		{Route: "PATCH /api/v1/rounds/:round", For: site.Guest, Does: "Change settings, as staff of the space; what is not sent stays", In: roundIn(), Out: roundJSON{}, By: s.apiUpdate},
		{Route: "DELETE /api/v1/rounds/:round", For: site.Guest, Confirm: deletesRound, OrKey: true, Does: "Delete a round that nobody has handed anything in to, as staff of the space", Status: 204, By: s.apiDelete},
		{Route: "POST /api/v1/rounds/:round/start", For: site.Guest, Does: "Begin now, as staff of the space", Out: roundJSON{}, By: s.act("round_start", startNow)},
		{Route: "POST /api/v1/rounds/:round/pause", For: site.Guest, Does: "Stop the countdown, as staff of the space: the start is not known until it goes on", Out: roundJSON{}, By: s.act("round_pause", pauseCountdown)},
		{Route: "POST /api/v1/rounds/:round/resume", For: site.Guest, Does: "Let the countdown go on, as staff of the space", Out: roundJSON{}, By: s.act("round_resume", resumeCountdown)},
		{Route: "POST /api/v1/rounds/:round/extend", For: site.Guest, Does: "Have it end later, as staff of the space; a freeze that has not begun moves along", In: fiber.Map{"by_ms": int64(0)}, Out: roundJSON{}, By: s.apiExtend},
		{Route: "POST /api/v1/rounds/:round/freeze", For: site.Guest, Does: "Hide what is judged from now on from the public and from other teams, as staff of the space", Out: roundJSON{}, By: s.act("round_freeze", freezeNow)},
		{Route: "POST /api/v1/rounds/:round/unfreeze", For: site.Guest, Does: "Show what is hidden while it goes on, as staff of the space", Out: roundJSON{}, By: s.act("round_unfreeze", unfreeze)},
		{Route: "POST /api/v1/rounds/:round/thaw", For: site.Guest, Does: "Show what is hidden after the end, for good, as staff of the space", Out: roundJSON{}, By: s.act("round_thaw", thawNow)},
		{Route: "POST /api/v1/rounds/:round/finalize", For: site.Guest, Does: "Have the result stand, as staff of the space; 409 names everything that is in the way", In: fiber.Map{"?b": 0}, Out: roundJSON{}, By: s.apiFinalize},
		{Route: "POST /api/v1/rounds/:round/reopen", For: site.Guest, Does: "Have the result stand no more, as administrator, for a reason that the audit log keeps", In: fiber.Map{"reason": ""}, Out: roundJSON{}, By: s.apiReopen},
		{Route: "POST /api/v1/rounds/:round/removed", For: site.Guest, Does: "Take an interval out of its time, as staff of the space: the end moves by as much", In: fiber.Map{"from": time.Time{}, "to": time.Time{}, "?reason": ""}, Out: roundJSON{}, By: s.apiRemove},
		{Route: "DELETE /api/v1/rounds/:round/removed/:id", For: site.Guest, Does: "Give an interval back, as staff of the space", Status: 204, By: s.apiGiveBack},

		{Route: "GET /api/v1/rounds/:round/problems", For: site.Guest, Does: "Problems of a round in order, once it has begun, or for setters of the space", Query: "after limit", Out: list("problems", []roundProblemJSON{}), By: s.apiProblems},
		{Route: "POST /api/v1/rounds/:round/problems", For: site.Guest, Does: "Add a problem, or change how it is in the round, as setter of the space; what is not sent stays", In: problemIn, Out: list("problems", []roundProblemJSON{}), By: s.apiPutProblem},
		{Route: "DELETE /api/v1/rounds/:round/problems/:slug", For: site.Guest, Does: "Take a problem that nobody has handed anything in to out of a round, as setter of the space", Status: 204, By: s.apiRemoveProblem},
		{Route: "GET /api/v1/rounds/:round/board", For: site.Guest, Does: "Standings of a round: those that everybody sees, or, for staff of the space, all that is known", Query: "view group at after limit", Out: boardJSON{}, By: s.apiBoard},
		{Route: "GET /api/v1/rounds/:round/board/own", For: site.Guest, Does: "One's own row: with the rank that everybody sees, and in a freeze with one's own verdicts", Out: ownRowJSON{}, By: s.apiOwnRow},
		{Route: "GET /api/v1/rounds/:round/board/stream", For: site.Guest, Does: "What changes on the board, as server-sent events named board, from the board of a token on", Query: "view token", Media: site.EventStream, Out: boardChangeJSON{}, By: s.apiBoardStream},
		{Route: "GET /api/v1/rounds/:round/explain/:code", For: site.Guest, Does: "Why a participant's row of the board is where it is, and what would be enough for a better rank", Query: "view", Out: explanationJSON{}, By: s.apiExplain},
		{Route: "GET /api/v1/rounds/:round/awards", For: site.Guest, Does: "Who gets what: once the result stands, or, for staff of the space, as it would be now", Query: "view", Out: fiber.Map{"final": false, "awards": []awardJSON{}}, By: s.apiAwards},
		{Route: "GET /api/v1/rounds/:round/resolver", For: site.Guest, Does: "The steps in which the frozen board is opened, from the last row upwards, for staff of the space", Query: "after limit", Out: fiber.Map{"steps": []stepJSON{}, "next": (*int)(nil)}, By: s.apiResolver},
		{Route: "GET /api/v1/rounds/:round/clarifications", For: site.Guest, Does: "Announcements, and what one asked and was answered; for staff of the space all, newest first", Query: "before limit", Out: list("clarifications", []clarificationJSON{}), By: s.apiClarifications},
		{Route: "POST /api/v1/rounds/:round/clarifications", For: site.Guest, Does: "Ask as a participant, or answer and announce as staff of the space", In: clarificationIn, Status: 201, Out: clarificationJSON{}, By: s.apiClarify},
		{Route: "POST /api/v1/rounds/:round/clarifications/:code/close", For: site.Guest, Does: "Have nobody wait for an answer to a question, as staff of the space", Status: 204, By: s.apiCloseQuestion(true)},
		{Route: "POST /api/v1/rounds/:round/clarifications/:code/open", For: site.Guest, Does: "Have a question wait again, as staff of the space", Status: 204, By: s.apiCloseQuestion(false)},
		{Route: "GET /api/v1/rounds/:round/ignored", For: site.Guest, Does: "Submissions that do not count, for staff of the space", Query: "after limit", Out: list("ignored", []ignoredJSON{}), By: s.apiIgnored},
		{Route: "POST /api/v1/rounds/:round/ignored", For: site.Guest, Does: "Have a submission not count, as staff of the space: boards and the Contest API tell of it no more", In: fiber.Map{"job_id": int64(0), "?reason": ""}, Status: 204, By: s.apiIgnore},
		{Route: "DELETE /api/v1/rounds/:round/ignored/:id", For: site.Guest, Does: "Have a submission count again, as staff of the space", Status: 204, By: s.apiCount},
		{Route: "GET /api/v1/rounds/:round/verdicts", For: site.Guest, Does: "Verdicts that staff gave in the place of the judge's, for staff of the space", Query: "after limit", Out: list("verdicts", []overrideJSON{}), By: s.apiOverrides},
		{Route: "POST /api/v1/rounds/:round/verdicts", For: site.Guest, Confirm: givesVerdict, OrKey: true, Does: "Give a submission another verdict, as staff of the space, for a reason that the audit log keeps; rejudging it gives the judge's again", In: fiber.Map{"job_id": int64(0), "verdict": "", "?score": (*float64)(nil), "reason": ""}, Status: 204, By: s.apiOverride},
		{Route: "POST /api/v1/rounds/:round/tokens", For: site.Guest, Does: "Spend a token on what one has handed in, in a round whose settings give tokens: its score counts from then on, also when another comes last", In: fiber.Map{"job_id": int64(0)}, Status: 204, By: s.apiSpend},
		{Route: "GET /api/v1/rounds/:round/adjustments", For: site.Guest, Does: "What staff added to rows of the board, by participant, for staff of the space", Query: "after limit", Out: list("adjustments", []adjustmentJSON{}), By: s.apiAdjustments},
		{Route: "POST /api/v1/rounds/:round/adjustments", For: site.Guest, Does: "Add minutes of penalty time, or points, to the row of a participant, as staff of the space, in the place of what was added before; 0 takes it away", In: fiber.Map{"participant": "", "?minutes": 0, "?points": 0.0, "?reason": ""}, Status: 204, By: s.apiAdjust},
		{Route: "GET /api/v1/rounds/:round/persons", For: site.Guest, Does: "Persons whom a round is about, by short name, for staff of the space", Query: "after limit", Out: list("persons", []contestPersonJSON{}), By: s.apiPersons},
		{Route: "POST /api/v1/rounds/:round/persons", For: site.Guest, Does: "Have it told who is of the teams of a round, or change those of the same short name, as staff of the space, all or none", In: fiber.Map{"persons": []fiber.Map{personIn}}, Out: fiber.Map{"changed": 0}, By: s.apiPutPersons},
		{Route: "DELETE /api/v1/rounds/:round/persons/:code", For: site.Guest, Does: "Have a person told of no more, as staff of the space", Status: 204, By: s.apiRemovePerson},
		{Route: "GET /api/v1/rounds/:round/entries", For: site.Guest, Does: "Who takes part in a round, by short name, for staff of the space", Query: "after limit", Out: list("entries", []string{}), By: s.apiEntries},
		{Route: "POST /api/v1/rounds/:round/entries", For: site.Guest, Does: "Have participants of the space take part, as its staff, all or none", In: fiber.Map{"participants": []string{}}, Out: roundJSON{}, By: s.apiEnter},
		{Route: "DELETE /api/v1/rounds/:round/entries/:code", For: site.Guest, Does: "Take a participant who has handed nothing in out of a round, as staff of the space", Status: 204, By: s.apiLeave},

		{Route: "GET /api/v1/spaces/:space/participants", For: site.Guest, Does: "Teams and single people of a space by short name, for its staff", Query: "after limit", Out: list("participants", []participantJSON{}), By: s.apiParticipants},
		{Route: "GET /api/v1/spaces/:space/participants/:code", For: site.Guest, Does: "A participant, for staff of the space", Out: participantJSON{}, By: s.apiParticipant},
		{Route: "POST /api/v1/spaces/:space/participants", For: site.Guest, Does: "Add participants, or change those of the same short name, as staff of the space, all or none", In: fiber.Map{"participants": []fiber.Map{participantIn}}, Out: fiber.Map{"changed": 0}, By: s.apiPutParticipants},
		{Route: "DELETE /api/v1/spaces/:space/participants/:code", For: site.Guest, Does: "Remove a participant who has handed nothing in, as staff of the space", Status: 204, By: s.apiRemoveParticipant},
		{Route: "POST /api/v1/spaces/:space/lineup", For: site.Guest, Does: "Import a list of teams, with accounts if wanted, of organizations, of groups or of accounts of teams, as staff of the space, all or none: a table with a head, or a file of DOMjudge or of the ICPC; what is wrong is said for each line", In: fiber.Map{"text": "", "?preview": false, "?accounts": false}, Out: lineupJSON{}, By: s.apiLineup},
		{Route: "GET /api/v1/spaces/:space/groups", For: site.Guest, Does: "Groups of participants by short name, for staff of the space", Query: "after limit", Out: list("groups", []teamGroupJSON{}), By: s.apiGroups},
		{Route: "POST /api/v1/spaces/:space/groups", For: site.Guest, Does: "Add groups, or change those of the same short name, as staff of the space, all or none", In: fiber.Map{"groups": []fiber.Map{groupIn}}, Out: fiber.Map{"changed": 0}, By: s.apiPutGroups},
		{Route: "DELETE /api/v1/spaces/:space/groups/:code", For: site.Guest, Does: "Remove a group in which nobody is, as staff of the space", Status: 204, By: s.apiRemoveGroup},
		{Route: "GET /api/v1/spaces/:space/organizations", For: site.Guest, Does: "Organizations by short name, for staff of the space", Query: "after limit", Out: list("organizations", []organizationJSON{}), By: s.apiOrganizations},
		{Route: "POST /api/v1/spaces/:space/organizations", For: site.Guest, Does: "Add organizations, or change those of the same short name, as staff of the space, all or none", In: fiber.Map{"organizations": []fiber.Map{organizationIn}}, Out: fiber.Map{"changed": 0}, By: s.apiPutOrganizations},
		{Route: "POST /api/v1/spaces/:space/organizations/:code/logos", For: site.Guest, Does: "Add a logo of an organization, a PNG, a JPEG or an SVG, as staff of the space, in the place of one of the same kind and size", Media: "application/octet-stream", Out: judge.Logo{}, By: s.apiPutLogo},
		{Route: "DELETE /api/v1/spaces/:space/organizations/:code/logos", For: site.Guest, Does: "Remove the logos of an organization, as staff of the space", Status: 204, By: s.apiRemoveLogos},
		{Route: "DELETE /api/v1/spaces/:space/organizations/:code", For: site.Guest, Does: "Remove an organization that nobody is of, as staff of the space", Status: 204, By: s.apiRemoveOrganization},
	}
}
