package staff

import (
	"html/template"
	"strings"

	"deepoj/host/judge"
	"deepoj/web/locale"
)

// Words are functions of the templates of this room.
var Words = template.FuncMap{"queueOrder": ordering}

// kindNames are what jobs are, as pages say it.
var kindNames = map[judge.Kind]locale.Word{
	judge.KindSubmission: "submission", judge.KindRun: "run", judge.KindImport: "import", judge.KindVerify: "verify", judge.KindRender: "render",
	judge.KindPluginBuild: "plugin_build", judge.KindPluginTest: "plugin_test", judge.KindDraft: "draft",
}

// outcomes are how attempts end without a result.
var outcomes = map[string]locale.Word{
	"failed": "failed", "released": "released", "lost": "lost", "cancelled": "cancelled", "superseded": "superseded", "buried": "buried",
}

// setStates are where rejudge sets stand.
var setStates = map[string]locale.Word{"applied": "applied", "cancelled": "cancelled", "judged": "judged", "judging": "judging"}

// actNames are the acts that the audit log keeps.
var actNames = map[string]locale.Word{
	"activate": "activate", "activate_unproved": "activate unproved", "apply": "apply", "bind_checker": "bind checker", "cancel": "cancel", "checker_messages": "checker messages",
	"contest_hook_create": "contest hook create", "contest_hook_delete": "contest hook delete", "contest_hook_disable": "contest hook disable",
	"delay": "delay", "discard": "discard", "factors_off": "factors off", "immediate": "immediate", "key_create": "key create", "key_revoke": "key revoke",
	"language_offer": "language offer", "language_withdraw": "language withdraw", "link": "link", "move": "move", "package_import": "package import", "package_render": "package render", "package_verify": "package verify", "passkey_add": "passkey add",
	"passkey_copy": "passkey copy", "passkey_remove": "passkey remove", "password": "password", "pause": "pause",
	"plugin_bind": "plugin bind", "plugin_preview": "plugin preview", "plugin_test": "plugin test", "plugin_upload": "plugin upload",
	"problem_author_add": "problem author add", "problem_author_remove": "problem author remove", "problem_hide": "problem hide",
	"problem_labels": "problem labels", "problem_owner": "problem owner", "problem_show": "problem show", "queue_set": "queue set",
	"recovery_codes": "recovery codes", "recovery_use": "recovery use", "rejudge": "rejudge", "rejudge_set": "rejudge set", "release": "release",
	"replay_all": "replay all", "restore": "restore", "resume": "resume",
	"round_adjust": "round adjust", "round_award": "round award", "round_comment": "round comment", "round_count": "round count", "round_persons": "round persons", "round_person_remove": "round person remove", "round_ignore": "round ignore", "round_award_remove": "round award remove", "round_import": "round import",
	"round_create": "round create", "round_delete": "round delete", "round_enter": "round enter",
	"round_extend": "round extend", "round_freeze": "round freeze", "round_give_back": "round give back",
	"round_group": "round group", "round_group_remove": "round group remove", "round_leave": "round leave", "round_logo": "round logo", "round_logo_remove": "round logo remove",
	"round_organization": "round organization", "round_organization_remove": "round organization remove",
	"round_finalize": "round finalize", "round_participant": "round participant", "round_participant_remove": "round participant remove",
	"round_pause": "round pause", "round_problems": "round problems", "round_remove": "round remove",
	"round_reopen": "round reopen", "round_resume": "round resume", "round_start": "round start", "round_thaw": "round thaw", "round_token": "round token",
	"round_unfreeze": "round unfreeze", "round_update": "round update", "round_verdict": "round verdict",
	"space_create": "space create", "space_delete": "space delete", "space_invite": "space invite",
	"space_join": "space join", "space_member": "space member", "space_member_remove": "space member remove", "space_problem": "space problem",
	"space_problem_remove": "space problem remove", "space_uninvite": "space uninvite", "space_update": "space update", "totp_remove": "totp remove",
	"totp_set": "totp set", "undo": "undo", "user_create": "user create", "user_disable": "user disable",
	"user_display_name": "user display name", "user_email": "user email", "user_enable": "user enable", "user_import": "user import",
	"user_register": "user register", "user_reset": "user reset", "user_role": "user role", "webhook_create": "webhook create",
	"webhook_delete": "webhook delete", "webhook_disable": "webhook disable", "webhook_enable": "webhook enable", "webhook_secret": "webhook secret",
}

// actName says an act; one that an older or newer program kept is said by its name.
func actName(action string) locale.Sentence {
	if name, known := actNames[action]; known {
		return locale.Sentence{Key: name}
	}
	return locale.Sentence{Key: "%s", Args: []any{strings.ReplaceAll(action, "_", " ")}}
}
