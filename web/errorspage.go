package web

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// errorKind is a reason as /api/errors explains it.
type errorKind struct {
	Reason  string
	Meaning locale.Word
	Status  int
}

// errorKinds are the reasons of every refusal; a test compares them with what the handlers send.
var errorKinds = []errorKind{
	{site.ReasonMissing, "A field that is needed is not there.", 422},
	{site.ReasonUnknown, "The field names something that does not exist, or there is no such field.", 422},
	{site.ReasonWrong, "The field has another JSON type than it needs.", 422},
	{site.ReasonEmpty, "The field has no content.", 422},
	{site.ReasonInvalid, "The field, or the body, is malformed.", 422},
	{site.ReasonNUL, "The program has a NUL byte, so it is no source text.", 422},
	{site.ReasonEncoding, "The text is not UTF-8.", 422},
	{"duplicate", "Two things that need different names have the same.", 422},
	{"weak", "The new password is among those that are guessed first.", 422},
	{"reused", "The idempotency key was used before with another content.", 422},
	{"too_many", "There are more entries than are taken.", 422},
	{"mixed", "An upload is either one module or the sources of one language.", 422},
	{"no_source", "An upload has neither a module nor a source that can be compiled.", 422},
	{"not_conforming", "The report on the plugin has errors, so it can be neither activated nor used.", 422},
	{"not_checker", "Only a checker decides on outputs, and the plugin is of another kind.", 422},
	{"unfinished", "The rejudge set is still being judged.", 422},
	{"resolved", "The rejudge set was applied or cancelled already.", 422},
	{"not_ready", "The job to go before is not ready in the same queue and pool.", 422},
	{"not_allowed", "The problem, or the space, does not take this language.", 422},
	{string(site.ReasonUnavailable), "No worker ever had the language's tool chain.", 422},
	{string(site.ReasonWithdrawn), "Staff took the language off the list.", 422},
	{"no_live_worker", "No worker has ever said which languages there are.", 422},
	{site.ReasonTooLong, "The program or the request's body is larger than the limit that the detail names.", 413},
	{"not_json", "The body is not declared as JSON.", 415},
	{"not_upload", "The body is neither a form with files nor a WebAssembly module or ZIP file, as the address takes it.", 415},
	{"not_archive", "The uploaded package is no ZIP archive.", 422},
	{"not_proved", "The proof of the version failed or is missing, so only staff can make it live.", 422},
	{"ambiguous_request", "Where the request ends is not clear, because its length is told twice or in a way that servers read differently.", 400},
	{"packed_body", "The request's body is compressed, which is not taken.", 415},
	{"bad_request", "The request could not be read as HTTP.", 400},
	{"login_required", "The address needs an account, or somebody who has logged in instead of a key (403).", 401},
	{"session_unknown", "The token is unknown or has expired.", 401},
	{"scope", "The key has a scope that does not allow this.", 403},
	{"wrong_login", "The name or the password is wrong.", 401},
	{"wrong_password", "The current password is wrong.", 422},
	{"code_required", "The account has a second factor, so a code is needed beside the password.", 422},
	{"wrong_code", "The code is wrong, or was used before.", 422},
	{"wrong_passkey", "What the browser sent of a passkey proves nothing.", 422},
	{"too_many_codes", "Too many codes in a row were wrong for the account, given with its right password; Retry-After says how long to wait.", 429},
	{"factor_exists", "The account has an authenticator app already.", 409},
	{"no_factor", "The account has no second factor.", 409},
	{"no_password", "The account has no password of its own, so no second factor would be asked for.", 409},
	{"one_time_password", "The password was given to the user and has to be changed before anything else.", 403},
	{"not_confirmed", "The act needs a session whose owner has just proved who they are, and no key will do: give the password to POST /api/v1/account/confirm.", 403},
	{"last_admin", "There is no other administrator, so nobody could undo the change.", 409},
	{"registration_closed", "People do not make accounts here for themselves, or only with an invitation.", 404},
	{"no_mail", "This site sends no letters.", 404},
	{"too_many_letters", "Too many letters or accounts were asked for from one network; Retry-After says how long to wait.", 429},
	{"too_many_logins", "Too many passwords were wrong, and too many wait to try others; Retry-After says how long to wait.", 429},
	{"rate_limited", "There were too many requests from the address, of the user or with the key; Retry-After says how long to wait.", 429},
	{"quota", "The packages of the setter take as much room as they may.", 413},
	{"too_many_versions", "The setter has sent as many versions of problems today as they may; Retry-After says how long to wait.", 429},
	{"sent_too_much", "The setter has sent as many bytes of packages today as they may; Retry-After says how long to wait.", 429},
	{"not_yours", "The problem is another setter's.", 403},
	{"forbidden", "The account may not do this.", 403},
	{string(judge.SpaceNotMember), "Only members take part in the space.", 403},
	{string(judge.SpaceNotOpen), "The space has not opened yet.", 403},
	{string(judge.SpaceClosed), "The space closed before this came.", 403},
	{string(judge.SpaceTooFast), "The space takes only so many submissions of a member in a minute; Retry-After says how long to wait.", 429},
	{string(judge.SpaceTooManyWaiting), "As many submissions of the member as the space allows are not judged yet.", 429},
	{"in_use", "Something was handed in to the space, so it cannot be deleted.", 409},
	{"csrf", "A form of another session was sent.", 403},
	{"foreign_origin", "A page of another site made the browser send the request.", 403},
	{"foreign_host", "The Host header is not one that this server answers to.", 421},
	{"metrics_closed", "The metrics are for those who have the token (401), ask at their own address, or ask on the server's machine (403).", 403},
	{"not_found", "There is nothing at the address, or nothing that the account may see.", 404},
	{"method_not_allowed", "The address does not answer to the method.", 405},
	{"already_finished", "The submission is over already.", 409},
	{"cancelled", "The submission was cancelled.", 409},
	{"begun", "The submission is being judged; in a space only staff can cancel it then.", 409},
	{"not_in_expected_state", "The submission is not in a state that allows this, such as one that is delivered already.", 409},
	{"immediate_cannot_move", "The submission is in the first lane, from which nothing is put back.", 409},
	{"no_such_language", "The problem has no statement in the language that lang names; the remedy lists those that there are.", 404},
	{"no_earlier_version", "No earlier version of the name was active, or it does not conform any more.", 409},
	{"no_blobs", "This server has no store for packages.", 503},
	{"headers_too_large", "The request's headers are larger than 16 KiB.", 431},
	{"too_many_streams", "There is no room for another event stream.", 503},
	{"queue_full", "The queue is full; nothing was stored.", 503},
	{"database_unavailable", "PostgreSQL does not answer. What was to be stored is stored whole or not at all: try again, with the same Idempotency-Key.", 503},
	{"busy", "The server has too much of this to do.", 503},
	{"stopping", "The server is stopping.", 503},
	{"internal", "Something broke on our side; the log has the trace id.", 500},
}

func (s *Server) errorsPage(c *fiber.Ctx) error {
	return s.Page(c, fiber.StatusOK, "errors", "API errors", errorKinds)
}
