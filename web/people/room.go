// Package people answers for accounts: logging in, here and at a provider of OpenID Connect, passwords, keys of
// programs, webhooks, and what administrators do with the accounts of others. The rules are those of host/people.
//
//	account.go       one's own account, and its password
//	addresses.go     what the room answers to
//	confirm.go       acts that have to be confirmed
//	device.go        browsers that are known
//	factors.go       second factors of one's own account, and what administrators do with those of others
//	import.go        lists of people
//	join.go          links that invite into a space
//	keys.go          keys of programs
//	letters.go       letters by e-mail: who gets one, and sending it
//	lettertext.go    what letters say
//	links.go         links in letters
//	oidc.go          logging in at a provider
//	passkeys.go      passkeys: what browsers are asked for, and what they answer
//	profile.go       one's display name and e-mail address
//	reading.go       languages and clocks
//	register.go      making an account for oneself, and asking for another password
//	room.go          what the room holds
//	second.go        the second step of a login
//	session.go       logging in and out, on pages and by the API
//	throttle.go      how fast passwords may be tried
//	totp.go          setting up an authenticator app
//	users.go         accounts
//	userspage.go     the pages of accounts
//	webhooks.go      webhooks, by the API
//	webhooksend.go   what webhooks are told
//	webhookspage.go  the pages of webhooks
package people

import (
	"time"

	"deepoj/web/callback"
	"deepoj/web/site"
	"deepoj/web/webauthn"
)

// Room answers for accounts, sessions, keys and webhooks.
type Room struct {
	*site.Site
	caller   *callback.Caller
	provider *provider     // of OpenID Connect; nil = none
	logins   *throttle     // tries of passwords
	hashing  chan struct{} // a place in it is the right to hash a password

	letterAsked chan struct{} // something may have to be sent
	asked       *askers       // who asked for letters and accounts, and are nobody yet

	party webauthn.Party   // the site, as passkeys know it
	now   func() time.Time // by which codes of authenticator apps count
}

// New makes the room. Webhooks are called by the caller, and who waits to try a password does so until done is closed.
func New(shared *site.Site, caller *callback.Caller, done <-chan struct{}) *Room {
	return &Room{
		Site: shared, caller: caller, provider: newProvider(shared.Config.OIDC),
		logins: newThrottle(time.Now, time.After, done), hashing: make(chan struct{}, 2),
		letterAsked: make(chan struct{}, 1), asked: &askers{full: map[string]time.Time{}, tries: askTries},
		party: webauthn.PartyOf("Deep-OJ", shared.Config.PublicURL, shared.Bound, shared.Config.Hosts), now: time.Now,
	}
}
