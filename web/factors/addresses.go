package factors

import "deepoj/web/site"

// What is asked for, as the page says it where it has to be confirmed.
const (
	setsTOTP       = "set up an authenticator app"
	removesTOTP    = "remove the authenticator app"
	addsPasskey    = "add a passkey"
	removesPasskey = "remove a passkey"
	makesRecovery  = "make other recovery codes"

	TakesOff = "take the second factors off an account"
)

// Addresses are the addresses of second factors.
func (s *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "GET /login/second", For: site.Anyone, By: s.secondPage},
		{Route: "POST /login/second", For: site.Anyone, By: s.second},
		{Route: "POST /login/second/options", For: site.Anyone, By: s.askToGoOn},
		{Route: "POST /login/second/passkey", For: site.Anyone, By: s.goOnByPasskey},
		{Route: "POST /login/passkey", For: site.Anyone, By: s.logInByPasskey},
		{Route: "POST /login/passkey/options", For: site.Anyone, By: s.askToLogIn},
		{Route: "POST /account/confirm/options", For: site.Login, By: s.askToConfirm},
		{Route: "POST /account/factors/told", For: site.Login, By: s.told},
		{Route: "POST /account/totp", For: site.Login, Confirm: setsTOTP, By: s.beginTOTP},
		{Route: "POST /account/totp/confirm", For: site.Login, Confirm: setsTOTP, By: s.confirmTOTP},
		{Route: "POST /account/totp/remove", For: site.Login, Asks: "remove the authenticator app", Confirm: removesTOTP, By: s.removeTOTP},
		{Route: "POST /account/passkeys", For: site.Login, Confirm: addsPasskey, By: s.addPasskey},
		{Route: "POST /account/passkeys/new", For: site.Login, Confirm: addsPasskey, By: s.passkeyPage},
		{Route: "POST /account/passkeys/options", For: site.Login, Confirm: addsPasskey, By: s.askToMake},
		{Route: "POST /account/passkeys/:id/remove", For: site.Login, Asks: "remove passkey :id", Confirm: removesPasskey, By: s.removePasskey},
		{Route: "POST /account/recovery", For: site.Login, Asks: "make other recovery codes in place of those that you have", Confirm: makesRecovery, By: s.makeRecovery},

		{Route: "GET /api/v1/account/factors", For: site.Login, Does: "One's own second factors", Out: factorsJSON{}, By: s.apiFactors},
		{Route: "GET /api/v1/users/:name/factors", For: site.Admin, Does: "The second factors of a user", Out: factorsJSON{}, By: s.apiUserFactors},
		{Route: "DELETE /api/v1/users/:name/factors", For: site.Admin, Confirm: TakesOff, Does: "Take all second factors off an account, whose owner will be told", Status: 204, By: s.apiTakeOff},
	}
}
