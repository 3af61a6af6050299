package site

import (
	"net/url"
	"strconv"

	"deepoj/host/judge"
)

// Where the pages of things are.

// SubmissionURL is the page of a submission.
func SubmissionURL(id int64) string { return "/submissions/" + strconv.FormatInt(id, 10) }

// RunURL is the page of a run.
func RunURL(id int64) string { return "/runs/" + strconv.FormatInt(id, 10) }

// JobURL is the page of a job of a plugin.
func JobURL(id int64) string { return "/checkers/jobs/" + strconv.FormatInt(id, 10) }

// ImportURL is the page of a job of a package.
func ImportURL(id int64) string { return "/imports/" + strconv.FormatInt(id, 10) }

// PackageURL is the page of the package of a problem, for setters.
func PackageURL(slug string) string { return "/packages/" + url.PathEscape(slug) }

// SpaceURL is the page of a space.
func SpaceURL(slug string) string { return "/spaces/" + url.PathEscape(slug) }

// RoundURL is the page of a round.
func RoundURL(code string) string { return "/rounds/" + url.PathEscape(code) }

// ProblemURL is the page of a problem, in a space if one is named.
func ProblemURL(space, slug string) string {
	page := "/problems/" + url.PathEscape(slug)
	if space != "" {
		page = SpaceURL(space) + page
	}
	return page
}

// UserURL is the page of an account.
func UserURL(name string) string { return "/users/" + url.PathEscape(name) }

// ProfileURL is the page of what somebody has solved.
func ProfileURL(name string) string { return "/people/" + url.PathEscape(name) }

// DeadLetterURL is the page of the dead letter of a job.
func DeadLetterURL(id int64) string { return "/dlq/" + strconv.FormatInt(id, 10) }

// RejudgingURL is the page of a rejudge set.
func RejudgingURL(id int64) string { return "/rejudgings/" + strconv.FormatInt(id, 10) }

// PageOfJob is the page of a job; "" if its kind has none.
func PageOfJob(id int64, kind judge.Kind) string {
	switch kind {
	case judge.KindSubmission:
		return SubmissionURL(id)
	case judge.KindPluginBuild, judge.KindPluginTest:
		return JobURL(id)
	case judge.KindImport, judge.KindVerify, judge.KindRender:
		return ImportURL(id)
	case judge.KindRun:
		return RunURL(id)
	case judge.KindDraft: // is found from its problem, which is not known here
	}
	return ""
}

// OIDCPath is where logging in at a provider begins; the callback is below.
const OIDCPath = "/login/oidc"

// Judge0Path is what the addresses for clients of Judge0 begin with.
const Judge0Path = "/judge0"

// DraftURL is the page of a program that was handed in to a version of a problem.
func DraftURL(slug string, id int64) string {
	return PackageURL(slug) + "/drafts/" + strconv.FormatInt(id, 10)
}

// VersionURL is the page of a version as contestants would see it.
func VersionURL(slug, version string) string {
	return PackageURL(slug) + "/versions/" + url.PathEscape(version)
}

// EditURL is the page on which a part of a version is changed.
func EditURL(slug, version, part string) string {
	return PackageURL(slug) + "/edit?version=" + url.QueryEscape(version) + "&part=" + part
}

// TryURL is the page on which programs are handed in to a version.
func TryURL(slug, version string) string {
	return PackageURL(slug) + "/try?version=" + url.QueryEscape(version)
}

// PluginURL is the page of a name of plugins.
func PluginURL(kind, name string) string {
	return "/checkers/" + url.PathEscape(kind) + "/" + url.PathEscape(name)
}
