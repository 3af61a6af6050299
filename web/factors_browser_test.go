package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/sql/sqltest"
)

// TestSecondFactorsAreUsedInTheBrowser sets up an authenticator app and logs in with it without JavaScript, then uses
// passkeys of the browser's own virtual authenticator, and looks at every page of it: the browser is started once.
func TestSecondFactorsAreUsedInTheBrowser(t *testing.T) {
	s := newStage(t)
	clock := s.clocked()
	s.held()() // nobody really waits
	s.user("ann", horse, judge.RoleContestant)
	ctx, console := browser(t)
	s.url = strings.Replace(s.url, "127.0.0.1", "localhost", 1) // passkeys belong to names
	scripts := func(off bool) {
		t.Helper()
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off})
		s.must(err)
	}
	do := func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) }
	at := func(path string) func() error { return func() error { return do(chromedp.Navigate(s.url + path)) } }
	click := func(selector string) func() error { return func() error { return click(ctx, selector) } }
	see := func(selector, text string) func() error { return func() error { return see(ctx, selector, text) } }
	fill := func(id, value string) func() error {
		return func() error { return do(chromedp.SendKeys(chromedp.CSS("#"+id), value)) }
	}
	looked := func(name string) {
		t.Helper()
		console.take() // a refusal is a complaint of the browser
		for look, l := range looks {
			s.must(l.set(ctx))
			t.Run(look+" "+name, func(t *testing.T) {
				examine(ctx, t, look, console, false)
				s.must(picture(ctx, name+"-"+look))
			})
		}
	}

	// Without JavaScript.
	scripts(true)
	s.signInAs(do, "ann", "/account")
	steps(s, see("h2", "Second factor"), click(`form[action="/account/totp"] button`), see("h1", "Authenticator app"))
	secret, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("#totp-secret")))
	s.must(err)
	secret = strings.ReplaceAll(secret, " ", "")
	scripts(false)
	looked("totp")
	scripts(true)
	steps(s, fill("code", clock.code(s, secret, 0)+"\r"), see("h1", "Recovery codes"))
	scripts(false)
	looked("recovery")
	scripts(true)
	logOut := []func() error{at("/account"), click(`form[action="/logout"] button`), see(".who", "Log in")}
	steps(s, logOut...)
	s.signInAs(do, "ann", "/queue")
	steps(s, see("h1", "One more step"), fill("code", "000000\r"), see(".alert", "The code is wrong"), fill("code", clock.code(s, secret, 1)+"\r"), see("h1", "Queue"))

	// A passkey is made once on a device.
	scripts(false)
	_, err = chromedp.Call(ctx, webauthn.Enable, webauthn.EnableParams{})
	s.must(err)
	made, err := chromedp.Call(ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: "ctap2", Transport: "internal", HasResidentKey: true, HasUserVerification: true, AutomaticPresenceSimulation: true, IsUserVerified: true,
	}})
	s.must(err)
	device := made.AuthenticatorID
	steps(s, at("/account"), click(`form[action="/account/passkeys/new"] button`), see("h1", "Add a passkey"))
	looked("passkey")
	steps(s, fill("label", "Ann's laptop\r"), see("#factors ~ .table-scroll", "Passkey: Ann's laptop"))
	looked("account")
	steps(s, click(`form[action="/account/passkeys/new"] button`), see("h1", "Add a passkey"), fill("label", "Once more\r"), see(".alert", "has a passkey of your account already"))

	// It logs in by itself, is a second factor, and proves again who somebody is. Its counter grows.
	counted := func() int64 { return sqltest.One[int64](t, s.store, "SELECT sign_count FROM passkeys") }
	grows := func(what string, run ...func() error) {
		t.Helper()
		before := counted()
		steps(s, run...)
		if now := counted(); now <= before {
			t.Errorf("%s: the counter is %d after %d", what, now, before)
		}
	}
	steps(s, append(logOut, at("/login?next=/queue"), see("button", "Log in with a passkey"))...)
	looked("login")
	grows("a login without a password", click("#passkey button"), see("h1", "Queue"), see(".who", "ann"))
	steps(s, logOut...)
	s.signInAs(do, "ann", "/languages")
	steps(s, see("h1", "One more step"))
	looked("second")
	grows("a second step", click("#passkey button"), see("h1", "Languages"), see(".who", "ann"))
	s.store.Exec(t, "UPDATE sessions SET proved_at = now() - interval '1 hour'")
	steps(s, at("/account"), fill("label", "for a script"), click(`form[action="/account/keys"] button`), see("h1", "Is it you?"))
	looked("confirm")
	grows("a proof", click("#passkey button"), see(".done", "The key for a script is made"))

	// What proves nothing opens nothing, and says no more.
	refused := func(what string, prepare, after func()) {
		t.Helper()
		prepare()
		steps(s, at("/login"), click("#passkey button"), see(".alert", "The passkey was not accepted"), see(".who", "guest"))
		after()
		if t.Failed() {
			t.Fatalf("after %s", what)
		}
	}
	nothing := func() {}
	override := func(p webauthn.SetResponseOverrideBitsParams) func() {
		return func() {
			p.AuthenticatorID = device
			_, err := chromedp.Call(ctx, webauthn.SetResponseOverrideBits, p)
			s.must(err)
		}
	}
	steps(s, logOut...)
	refused("a signature that is none", override(webauthn.SetResponseOverrideBitsParams{IsBogusSignature: new(true)}), nothing)
	refused("a user who was not verified", override(webauthn.SetResponseOverrideBitsParams{IsBadUV: new(true)}), nothing)
	refused("nobody there", override(webauthn.SetResponseOverrideBitsParams{IsBadUP: new(true)}), override(webauthn.SetResponseOverrideBitsParams{}))
	refused("a copy, whose counter is behind", func() { s.store.Exec(t, "UPDATE passkeys SET sign_count = sign_count + 1000") },
		func() { s.store.Exec(t, "UPDATE passkeys SET sign_count = sign_count - 1000") })
	refused("a passkey of another account", func() {
		s.store.Exec(t, "UPDATE factors SET handle = handle || 'x'")
	}, func() { s.store.Exec(t, "UPDATE factors SET handle = substring(handle FROM 1 FOR length(handle) - 1)") })
	refused("a disabled account", func() { s.must(s.store.Disable(t.Context(), "ann", true, "root")) }, func() { s.must(s.store.Disable(t.Context(), "ann", false, "root")) })
	_, err = chromedp.Call(ctx, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: device, IsUserVerified: false})
	s.must(err)
	steps(s, at("/login"), click("#passkey button"), see(".alert", "The browser or the passkey's device refused"))
	_, err = chromedp.Call(ctx, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: device, IsUserVerified: true})
	s.must(err)

	// At an address of numbers there are none, and the form is not shown.
	numbers := strings.Replace(s.url, "localhost", "127.0.0.1", 1)
	steps(s, func() error { return do(chromedp.Navigate(numbers + "/login")) }, see("h1", "Log in"))
	if hidden, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.getElementById("passkey").hidden`)); err != nil || !hidden {
		t.Errorf("where passkeys do not work their form is shown: %v", err)
	}
	// It is removed, and the recovery codes stay as long as the app does.
	steps(s, at("/login?next=/account"), see("#passkey button", "Log in"), click("#passkey button"), see("h1", "ann"))
	steps(s, click(`form[action^="/account/passkeys/"][action$="/remove"] button`), see("h1", "Are you sure?"), click(`main form button`), see("#factors ~ .table-scroll", "10 codes left"))
	want := "ann totp_set, ann recovery_codes, ann passkey_add, ann passkey_copy, root user_disable, root user_enable, ann passkey_remove"
	if got := s.acted("ann"); got != want {
		t.Errorf("the audit log has %s, want %s", got, want)
	}
	if left := sqltest.One[int64](t, s.store, "SELECT count(*) FROM passkey_challenges WHERE expires_at < now()"); left > 1 {
		t.Errorf("%d challenges are kept for nothing", left)
	}
	if f, err := s.store.Factors(t.Context(), "ann"); err != nil || fmt.Sprint(f.TOTP, f.Passkeys, f.Recovery) != "true 0 10" {
		t.Errorf("what is left: %+v, %v", f, err)
	}
}
