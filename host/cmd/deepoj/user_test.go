package main

import (
	"strings"
	"testing"

	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// commandLine returns a function that runs commands on a fresh database. It
// checks their status and a part of what they print, and returns all of it.
func commandLine(t *testing.T) func(command string, status int, want string) string {
	t.Helper()
	return commandsOn(t, sqltest.DSN(t))
}

// commandsOn is the same on a database that there is.
func commandsOn(t *testing.T, dsn string) func(command string, status int, want string) string {
	return func(command string, status int, want string) string {
		t.Helper()
		got, out, errs := call(t, map[string]string{"DATABASE_URL": dsn}, strings.Fields(command)...)
		if got != status || !strings.Contains(out+errs, want) {
			t.Errorf("deepoj %s: status %d, want %d and %q\n%s%s", command, got, status, want, out, errs)
		}
		return out
	}
}

func TestTheCommandLineManagesAccounts(t *testing.T) {
	t.Parallel()
	call := commandLine(t)
	call("user", 0, "create NAME...")
	if out := call("user create --role admin root other", 0, "root "); len(strings.Fields(out)) != 4 {
		t.Errorf("create printed %q, want two names with passwords", out)
	}
	call("user create root", 1, "already exists")
	call("user create Root", 1, "a to z")
	call("user create --role emperor x", 1, "the roles are contestant")
	call("user role root emperor", 1, "the roles are contestant")
	call("user role other contestant", 0, "other is contestant")
	call("user role root staff", 1, "nobody else is an administrator")
	call("user disable other nobody", 1, "other is disabled")
	call("user list", 0, "other  contestant  disabled")
	call("user list --role admin", 0, "root  admin  one-time password")
	call("user enable other", 0, "other is enabled")
	call("user reset other", 0, "other ")
	call("user reset nobody", 1, "not found")
	if out := call("user log --subject user:other --action user_reset", 0, "command line"); strings.Count(out, "\n") != 2 {
		t.Errorf("the log has %q, want one entry", out)
	}
}

func TestTheCommandLineTakesSecondFactorsOff(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	call, store := commandsOn(t, dsn), sqltest.Open(t, dsn)
	call("user create ann bob", 0, "ann ")
	withTOTP(t, store.Site, "ann")
	call("user factors-off nobody", 1, "not found")
	call("user factors-off bob ann", 1, "bob has no second factor")
	f, err := store.Factors(t.Context(), "ann")
	if err != nil || f.Any() || f.Recovery != 0 || f.TakenOffBy != "command line" {
		t.Errorf("after that ann has %+v, %v", f, err)
	}
	if out := call("user log --subject user:ann --action factors_off", 0, "command line"); strings.Count(out, "\n") != 2 {
		t.Errorf("the log has %q, want one entry", out)
	}
	call("user factors-off ann", 1, "ann has no second factor")
}

// withTOTP gives an account an authenticator app, and returns its recovery codes.
func withTOTP(t *testing.T, store *sql.Site, name string) (codes []string) {
	t.Helper()
	_, err := store.BeginTOTP(t.Context(), name, people.NewTOTPSecret(), []byte("handle of "+name))
	if err == nil {
		err = store.ConfirmTOTP(t.Context(), name, 1)
	}
	codes, hashes := people.NewRecoveryCodes(name)
	if err == nil {
		err = store.SetRecovery(t.Context(), name, hashes)
	}
	if err != nil {
		t.Fatal(err)
	}
	return codes
}

func TestTheCommandLineMakesAndRevokesKeys(t *testing.T) {
	t.Parallel()
	call := commandLine(t)
	call("user create --role setter ann", 0, "ann ")
	secret := strings.TrimSpace(call("key create --user ann --scope setter --expires 1h laptop", 0, "no key of ann works before ann has logged in"))
	if !strings.HasPrefix(secret, "doj_") || len(secret) < 68 {
		t.Errorf("the secret is %q", secret)
	}
	call("key create laptop", 1, "say whose")
	call("key create --user nobody laptop", 1, "not found")
	call("key create --user ann --scope staff laptop", 1, "no more than its owner")
	call("key create --user ann --expires -1h laptop", 1, "over already")
	call("key list --user ann", 0, "1    laptop  setter  true")
	call("key revoke 1", 0, "1 is revoked")
	call("key revoke 2", 1, "not found")
	call("key list --user ann", 0, "1    laptop  setter  false")
}

func TestTheCommandLineManagesWebhooks(t *testing.T) {
	t.Parallel()
	call := commandLine(t)
	call("user create ann", 0, "ann ")
	call("webhook create http://a/", 1, "say whose")
	call("webhook create --user ann ftp://a/", 1, "has to be like")
	call("webhook create --user ann --everyone http://a/", 1, "Only staff")
	call("webhook create --user ann --kinds submission.lost http://a/", 1, "submission.finished")
	call("webhook create --user ann --problem nosuch http://a/", 1, "not found")
	if out := call("webhook create --user ann http://a/", 0, "1 whsec_"); strings.Contains(call("webhook list", 0, "1        ann    on     owner"), strings.Fields(out)[1]) {
		t.Error("the list has the secret")
	}
	call("webhook test 1", 0, "1 is tried out")
	call("webhook log 1", 0, "1        webhook.test  0")
	call("webhook resend 1 1", 0, "1 is sent again")
	call("webhook resend 1 2", 1, "not found")
	call("webhook disable 1", 0, "1 is disabled")
	call("webhook list --user ann", 0, "disabled")
	call("webhook enable 1", 0, "1 is enabled")
	call("webhook delete 1", 0, "1 is deleted")
	call("webhook log 1", 1, "not found")
}
