// Package people answers for accounts: logging in, here and at a provider of OpenID Connect, passwords, keys of
// programs, webhooks, and what administrators do with the accounts of others. The rules are those of host/people.
//
//	account.go       one's own account, and its password
//	addresses.go     what the room answers to
//	basic.go         names and passwords that come with each request
//	confirm.go       acts that have to be confirmed
//	device.go        browsers that are known
//	import.go        lists of people
//	join.go          links that invite into a space
//	keys.go          keys of programs
//	links.go         links in letters
//	oidc.go          logging in at a provider
//	profile.go       one's display name and e-mail address
//	reading.go       languages and clocks
//	register.go      making an account for oneself, and asking for another password
//	room.go          what the room holds
//	session.go       logging in and out, on pages and by the API
//	users.go         accounts
//	userspage.go     the pages of accounts
//	webhooks.go      webhooks, by the API
//	webhooksend.go   what webhooks are told
//	webhookspage.go  the pages of webhooks
//	words.go         what templates call
package people

import (
	"time"

	"deepoj/web/callback"
	"deepoj/web/factors"
	"deepoj/web/letters"
	"deepoj/web/site"
	"deepoj/web/throttle"
)

// Room answers for accounts, sessions, keys and webhooks.
type Room struct {
	*site.Site
	caller   *callback.Caller
	provider *provider          // of OpenID Connect; nil = none
	logins   *throttle.Throttle // tries of passwords
	hashing  chan struct{}      // a place in it is the right to hash a password
	basics   *basics            // whoever sends a password with each request

	asked *throttle.Askers // who asked for letters and accounts, and are nobody yet

	Factors *factors.Room
	Letters *letters.Letters
}

// New makes the room. Webhooks are called by the caller, and who waits to try a password does so until done is closed.
func New(shared *site.Site, caller *callback.Caller, done <-chan struct{}) *Room {
	s := &Room{
		Site: shared, caller: caller, provider: newProvider(shared.Config.OIDC),
		logins: throttle.New(time.Now, time.After, done), asked: throttle.NewAskers(), hashing: make(chan struct{}, 2), basics: newBasics(),
		Letters: letters.New(shared),
	}
	s.Factors = factors.New(shared, s, s.logins)
	return s
}
