package launch

import (
	"slices"
	"strings"
)

// harmless are the variables of root's environment that the unprivileged process
// gets beside the settings: where programs and authorities are, what language and
// time zone, what proxy leads outside, and what the Go run-time reads.
var harmless = strings.Fields(`PATH LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LC_TIME TZ TZDIR TMPDIR
	SSL_CERT_FILE SSL_CERT_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy
	GOMAXPROCS GOMEMLIMIT GOGC GODEBUG GOTRACEBACK GORACE GOCOVERDIR`)

// postgresVariables are those that complete a DATABASE_URL.
var postgresVariables = strings.Fields(`PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGSSLMODE PGSSLROOTCERT PGSSLCERT PGSSLKEY PGSSLPASSWORD PGCONNECT_TIMEOUT PGAPPNAME`)

// HandedDown returns what of root's environment the unprivileged process gets.
func HandedDown(lookup func(string) (string, bool), database bool) []string {
	names := harmless
	if database {
		names = append(slices.Clip(names), postgresVariables...)
	}
	env := []string{}
	for _, name := range names {
		if v, ok := lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
