package setters

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/draft"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/job"
	"deepoj/web/site"
	"deepoj/web/statement"
)

// peopleOf is an example of who may change a problem.
var peopleOf = fiber.Map{"people": []sql.ProblemPerson{}, "next": (*string)(nil)}

// Addresses are the addresses of packages.
func (s *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "GET /packages", For: site.Setter, By: s.packagesPage},
		{Route: "POST /packages", For: site.Setter, Upload: site.PackageUpload, By: s.importForm},
		{Route: "POST /packages/template", For: site.Setter, By: s.templateForm},
		{Route: "GET /packages/:slug", For: site.Setter, By: s.packagePage},
		{Route: "GET /packages/:slug/edit", For: site.Setter, By: s.editPage},
		{Route: "POST /packages/:slug/edit", For: site.Setter, By: s.editForm},
		{Route: "GET /packages/:slug/compare", For: site.Setter, By: s.comparePage},
		{Route: "POST /packages/:slug/clone", For: site.Setter, By: s.cloneForm},
		{Route: "POST /packages/:slug/labels", For: site.Setter, By: s.labelsForm},
		{Route: "GET /packages/:slug/package", For: site.Setter, By: s.export},
		{Route: "GET /packages/:slug/versions/:version", For: site.Setter, By: s.previewPage},
		{Route: "GET /packages/:slug/versions/:version/pictures/:name", For: site.Setter, By: statement.Pictures(s.Site, s.keptVersion)},
		{Route: "GET /packages/:slug/versions/:version/documents/:name", For: site.Setter, By: statement.Documents(s.Site, s.keptVersion)},
		{Route: "GET /packages/:slug/versions/:version/files/*", For: site.Setter, By: s.versionFile},
		{Route: "POST /packages/:slug/render", For: site.Setter, By: s.renderForm},
		{Route: "POST /packages/:slug/activate", For: site.Setter, By: s.activateForm},
		{Route: "POST /packages/:slug/rollback", For: site.Setter, By: s.rollBackForm},
		{Route: "POST /packages/:slug/verify", For: site.Setter, By: s.verifyForm},
		{Route: "POST /packages/:slug/hide", For: site.Setter, By: s.hideForm(true)},
		{Route: "POST /packages/:slug/show", For: site.Setter, By: s.hideForm(false)},
		{Route: "POST /packages/:slug/people", For: site.Setter, By: s.addPersonForm},
		{Route: "POST /packages/:slug/people/:name/remove", For: site.Setter, By: s.removePersonForm},
		{Route: "POST /packages/:slug/checker-messages", For: site.Setter, By: s.messagesForm},
		{Route: "GET /imports/:id", For: site.Setter, By: job.ShowJob(s.job, "import", s.jobPage)},
		{Route: "GET /imports/:id/live", For: site.Setter, By: job.ShowLive(s.job, "import", s.jobPage)},
		{Route: "GET /imports/:id/events", For: site.Setter, By: job.Follow(s.job, s.job.SetterJobFor)},
		{Route: "POST /imports/:id/cancel", For: site.Setter, By: job.CancelForm(s.job, s.job.SetterJobFor)},

		{Route: "POST /api/v1/problems", For: site.Setter, Upload: site.PackageUpload, Does: "Import a package: a ZIP file, or a form with one", Query: "problem activate title time memory", Media: "application/zip", Status: 202, Out: site.Stored, By: s.apiImport},
		{Route: "POST /api/v1/renderings", For: site.Setter, Does: "Make the pages of all versions of some problems again, or for staff of all; versions and proofs stay; with an Idempotency-Key the same again gives the same job", In: fiber.Map{"?problems": []string{}, "?all": false}, Status: 202, Out: site.Stored, By: s.apiRender},
		{Route: "GET /api/v1/problems/:slug/labels", For: site.Setter, Does: "Tags, difficulty, source and author as setters say them; null is as the package says", Out: labelsJSON{}, By: s.apiLabels},
		{Route: "POST /api/v1/problems/:slug/labels", For: site.Setter, Does: "Say them; what is left out stays", In: fiber.Map{"?tags": (*[]string)(nil), "?difficulty": (*int32)(nil), "?source": (*string)(nil), "?author": (*string)(nil)}, Out: labelsJSON{}, By: s.apiSetLabels},
		{Route: "GET /api/v1/problems/:slug/diff", For: site.Setter, Kept: true, Does: "How one version differs from another", Query: "from to", Out: draft.Difference{}, By: s.apiDiff},
		{Route: "POST /api/v1/problems/:slug/clone", For: site.Setter, Does: "Make a problem of one's own of a version", In: fiber.Map{"name": "", "?version": ""}, Status: 202, Out: site.Stored, By: s.apiClone},
		{Route: "GET /api/v1/problems/:slug/versions/:version/problem", For: site.Setter, Kept: true, Does: "A version as contestants would see it", Out: judge.Problem{}, By: s.apiVersionProblem},
		{Route: "GET /api/v1/problems/:slug/versions/:version/files", For: site.Setter, Kept: true, Does: "The files of a version", Query: "after limit", Out: fiber.Map{"files": []fileJSON{}, "next": (*string)(nil)}, By: s.apiVersionFiles},
		{Route: "GET /api/v1/problems/:slug/versions/:version/file", For: site.Setter, Kept: true, Does: "One file of a version", Query: "path", Media: "application/octet-stream", By: s.apiVersionFile},
		{Route: "POST /api/v1/problems/:slug/versions/:version/edit", For: site.Setter, Does: "Change a version: a new one is imported, which does not go live by itself", In: editJSON{}, Status: 202, Out: site.Stored, By: s.apiEdit},
		{Route: "POST /api/v1/problems/:slug/versions/:version/preview", For: site.Setter, Does: "What a change would make, without saving it", In: editJSON{}, Out: previewJSON{}, By: s.apiPreview},
		{Route: "GET /api/v1/templates", For: site.Setter, Kept: true, Does: "The templates of new problems", Query: "after limit", Out: fiber.Map{"templates": []string{}, "next": (*string)(nil)}, By: s.apiTemplates},
		{Route: "POST /api/v1/templates/:name", For: site.Setter, Does: "Make a new problem from a template", In: fiber.Map{"name": ""}, Status: 202, Out: site.Stored, By: s.apiFromTemplate},
		{Route: "POST /api/v1/problems/:slug/rollback", For: site.Setter, Does: "Make the version live that was live before", Out: fiber.Map{"problem": "", "version": ""}, By: s.apiRollBack},
		{Route: "GET /api/v1/problems/:slug/package", For: site.Setter, Kept: true, Does: "A version as a package", Query: "version", Media: "application/zip", By: s.export},
		{Route: "GET /api/v1/problems/:slug/versions", For: site.Setter, Does: "Its versions, newest first", Query: "before limit", Out: fiber.Map{"versions": []judge.ProblemVersion{}, "next": (*string)(nil)}, By: s.apiVersions},
		{Route: "GET /api/v1/problems/:slug/versions/:version", For: site.Setter, Does: "A version with the report of its proof", Out: judge.ProblemVersion{}, By: s.apiVersion},
		{Route: "GET /api/v1/problems/:slug/versions/:version/statement", For: site.Setter, Kept: true, Does: "The statement of a version as contestants see it, or would", Query: "lang", Out: statementJSON{}, By: s.apiStatement},
		{Route: "POST /api/v1/problems/:slug/versions/:version/activate", For: site.Setter, Does: "Make a version live", In: fiber.Map{"?override": false}, Out: judge.ProblemVersion{}, By: s.apiActivate},
		{Route: "POST /api/v1/problems/:slug/versions/:version/verify", For: site.Setter, Does: "Prove a version again", Status: 202, Out: site.Stored, By: s.apiVerify},
		{Route: "POST /api/v1/problems/:slug/hide", For: site.Setter, Does: "Show a problem only to setters, and to members of a space while that is open", Out: fiber.Map{"problem": "", "hidden": false}, By: s.apiHide(true)},
		{Route: "POST /api/v1/problems/:slug/show", For: site.Setter, Does: "Show a problem to everybody", Out: fiber.Map{"problem": "", "hidden": false}, By: s.apiHide(false)},
		{Route: "GET /api/v1/problems/:slug/people", For: site.Setter, Does: "Who may change a problem besides staff: its owner and co-authors", Query: "after limit", Out: peopleOf, By: s.apiPeople},
		{Route: "POST /api/v1/problems/:slug/people", For: site.Setter, Does: "Add a co-author, or name another owner, as its owner or staff", In: fiber.Map{"name": "", "?owner": false}, Out: peopleOf, By: s.apiAddPerson},
		{Route: "DELETE /api/v1/problems/:slug/people/:name", For: site.Setter, Does: "Remove a co-author, as its owner, as staff, or oneself", Status: 204, By: s.apiRemovePerson},
		{Route: "GET /api/v1/quota", For: site.Setter, Does: "What one's packages take and may take; for staff also those of others", Out: quotaView{}, By: s.apiQuota},
		{Route: "GET /api/v1/problems/:slug/checker-messages", For: site.Setter, Does: "Who reads what the checkers of a problem say", Out: messagesJSON{}, By: s.apiMessages},
		{Route: "POST /api/v1/problems/:slug/checker-messages", For: site.Setter, Does: "Choose that: nobody, samples or all, or nothing for what the package says", In: fiber.Map{"checker_messages": ""}, Out: messagesJSON{}, By: s.apiSetMessages},
	}
}
