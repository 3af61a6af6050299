package staff

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/web/locale"
)

// kept is how statements write what the audit log keeps: an act, and on what.
var kept = regexp.MustCompile(`'([a-z_]+)', +(?:CASE count\(\*\) WHEN 1 THEN )?'(?:user|jobs?|problem|plugin|space|queue|language|webhook|rejudge|key):'` +
	`|(?:THEN|ELSE) '((?:user|problem|space|webhook|language|key)_[a-z]+|pause|resume)'`)

// statements are those of SQL that write the audit log, and literal the details that Go code makes.
var (
	statements = regexp.MustCompile(`(?s)INSERT INTO audit_log.*?(?:\n-- name|\nevent AS|\nUPDATE|\z)`)
	literal    = regexp.MustCompile(`map\[string\](?:any|string)\{([^}]*)\}`)
	members    = regexp.MustCompile(`"([a-z_]+)":`)
)

// builtMembers returns the names that calls of jsonb_build_object in a statement give their members.
func builtMembers(text string) (names []string) {
	const call = "jsonb_build_object("
	for at := strings.Index(text, call); at >= 0; at = strings.Index(text, call) {
		text = text[at+len(call):]
		depth, from, n := 0, 0, 0
		for i := 0; i < len(text) && depth >= 0; i++ {
			switch c := text[i]; {
			case c == '(' || c == '[':
				depth++
			case c == ']':
				depth--
			case depth == 0 && (c == ',' || c == ')'):
				if name := strings.Trim(text[from:i], " \n"); n%2 == 0 {
					names = append(names, strings.Trim(name, "'"))
				}
				from, n = i+1, n+1
				if c == ')' {
					depth--
				}
			case c == ')':
				depth--
			}
		}
	}
	return names
}

func TestEveryMemberOfTheAuditLogHasAWord(t *testing.T) {
	t.Parallel()
	found := 0
	check := func(file, name string) {
		if found++; detailNames[name] == "" {
			t.Errorf("%s: the member %q of a detail has no word", file, name)
		}
	}
	files, err := filepath.Glob("../../sql/[qs]*/*.sql") // queries and statements
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range statements.FindAllString(string(text), -1) {
			for _, name := range builtMembers(statement) {
				check(file, name)
			}
		}
	}
	if found < 80 {
		t.Errorf("only %d members were found in SQL", found)
	}
	for _, file := range []string{"../setters/store.go", "../setters/render.go", "../plugins/acts.go", "../factors/passkeys.go", "../../sql/deadletter.go", "../../sql/roster.go", "../../host/intake/rebind.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before := found
		for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
			for _, name := range members.FindAllStringSubmatch(m[1], -1) {
				check(file, name[1])
			}
		}
		if found == before {
			t.Errorf("%s makes no detail", file)
		}
	}
}

func TestDetailsOfTheAuditLogReadWellInEveryLanguage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ action, detail, en, zh string }{
		{"user_role", `{"was": "setter", "role": "staff"}`, "role: staff; was: setter", "角色：工作人员；原为：出题人"},
		{"queue_set", `{"ordering": "lifo", "max_tries": 5, "max_wait": null}`, "tries: 5; order: the newest first (lifo)", "尝试次数：5；顺序：后到先评（lifo）"},
		{"cancel", `{"was": "pending", "generation": 1, "lane": 2, "why": ""}`, "judging number: 1; lane: retries; was: pending", "第几次评测：1；通道：重试；原为：等待中"},
		{"totp_off", `{"totp": true, "passkeys": 1200, "of_another_time": "x"}`, "of another time: x; passkeys: 1,200; authenticator app: yes", "of another time：x；通行密钥：1,200；身份验证器应用：是"},
		{"rejudge", `{"jobs": [1, 1200]}`, "jobs: 1, 1200", "任务：1、1200"},
		{"key_create", `{"expires_at": "2026-11-25T22:47:53.5+00:00", "scope": "read"}`, "expires: 25 Nov 2026 22:47:53 UTC; scope: read", "到期：2026年11月25日 22:47:53 UTC；权限范围：读取"},
		{"space_update", `{"listed": [false, true]}`, "listed: yes, before: no", "公开列出：是，原为：否"},
		{"problem_labels", `{"was": null, "is": {"tags": ["a", "b"], "difficulty": 3, "source": null}}`, "is: [difficulty: 3; tags: a, b]", "现为：[难度：3；标签：a、b]"},
		{"user_create", `nonsense`, "nonsense", "nonsense"},
	} {
		for language, want := range map[string]string{"en": tt.en, "zh-Hans": tt.zh} {
			if got := detailText(tt.action, []byte(tt.detail), locale.For(language)); got != want {
				t.Errorf("%s of %s in %s: %q, want %q", tt.detail, tt.action, language, got, want)
			}
		}
	}
}

func TestEveryActOfTheAuditLogAndEveryKindOfJobHasAWord(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../sql/statements/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	typed, err := filepath.Glob("../../sql/queries/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, typed...)
	acts := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range kept.FindAllStringSubmatch(string(text), -1) {
			act := m[1] + m[2]
			if actNames[act] == "" {
				t.Errorf("%s: the act %s has no word", file, act)
			}
			acts++
		}
	}
	if acts < 50 {
		t.Errorf("only %d acts were found", acts)
	}
	for _, act := range []string{
		"package_" + string(judge.KindImport), "package_" + string(judge.KindVerify), "package_" + string(judge.KindRender),
		"plugin_" + string(judge.PluginUpload), "plugin_" + string(judge.PluginTest), "plugin_" + string(judge.PluginPreview), "plugin_" + string(judge.PluginBind),
	} {
		if actNames[act] == "" {
			t.Errorf("the act %s has no word", act)
		}
	}
	for _, kind := range judge.Kinds {
		if kindNames[kind] == "" {
			t.Errorf("jobs of the kind %s have no word", kind)
		}
	}
	if got := actName("of_another_time").String(); got != "of another time" {
		t.Errorf("an act that nobody knows is called %q", got)
	}
}
