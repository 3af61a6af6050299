package people

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/factors"
	"deepoj/web/letters"
	"deepoj/web/site"
)

// oneTime is a password that was given to somebody.
var oneTime = fiber.Map{"name": "", "password": ""}

// Addresses are the addresses of accounts, keys and webhooks.
func (s *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "GET /login", For: site.Anyone, By: s.loginPage},
		{Route: "POST /login", For: site.Anyone, By: s.login},
		{Route: "GET " + site.OIDCPath, For: site.Anyone, By: s.beginOIDC},
		{Route: "GET " + site.OIDCPath + "/callback", For: site.Anyone, By: s.endOIDC},
		{Route: "GET /login/reset", For: site.Anyone, By: s.resetPage},
		{Route: "POST /login/reset", For: site.Anyone, By: s.askReset},
		{Route: "GET " + letters.LinkPath, For: site.Anyone, By: s.linkPage},
		{Route: "POST " + letters.LinkPath, For: site.Anyone, By: s.useLink},
		{Route: "GET /register", For: site.Anyone, By: s.registerPage},
		{Route: "POST /register", For: site.Anyone, By: s.register},
		{Route: "GET " + JoinPath, For: site.Anyone, By: s.joinPage},
		{Route: "POST " + JoinPath, For: site.Login, By: s.join},
		{Route: "POST /logout", For: site.Anyone, By: s.logout},
		{Route: "POST /language", For: site.Anyone, By: s.chooseLanguage},
		{Route: "POST /account/reading", For: site.Login, By: s.readingForm},
		{Route: "GET /account", For: site.Guest, By: s.accountPage},
		{Route: "POST /account", For: site.Login, By: s.changePasswordForm},
		{Route: "POST /account/name", For: site.Login, By: s.profileForm},
		{Route: "POST /account/email", For: site.Login, Confirm: changesEmail, By: s.emailForm},
		{Route: "POST /account/keys", For: site.Login, Confirm: makesKey, By: s.createKeyForm},
		{Route: "POST /account/keys/:id/revoke", For: site.Login, Asks: "revoke key :id", By: s.revokeKeyForm},
		{Route: "GET /webhooks", For: site.Login, By: s.webhooksPage},
		{Route: "POST /webhooks", For: site.Login, Confirm: makesWebhook, By: s.createWebhookForm},
		{Route: "GET /webhooks/:id", For: site.Login, By: s.webhookPage},
		{Route: "POST /webhooks/:id/enable", For: site.Login, By: s.webhookForm(func(c *fiber.Ctx) error { return s.disableWebhook(c, false) })},
		{Route: "POST /webhooks/:id/disable", For: site.Login, By: s.webhookForm(func(c *fiber.Ctx) error { return s.disableWebhook(c, true) })},
		{Route: "POST /webhooks/:id/delete", For: site.Login, Asks: "delete webhook :id with its log", Confirm: deletesWebhook, By: s.deleteWebhookForm},
		{Route: "POST /webhooks/:id/rotate", For: site.Login, Asks: "give webhook :id another secret", Confirm: changesSecret, By: s.webhookSecretForm},
		{Route: "POST /webhooks/:id/test", For: site.Login, By: s.webhookForm(func(c *fiber.Ctx) error { _, err := s.tryWebhook(c); return err })},
		{Route: "POST /webhooks/:id/deliveries/:delivery/resend", For: site.Login, By: s.webhookForm(func(c *fiber.Ctx) error { _, err := s.sendAgain(c); return err })},
		{Route: "GET /users", For: site.Admin, By: s.usersPage},
		{Route: "POST /users", For: site.Admin, By: s.createUsersForm},
		{Route: "GET /users/import", For: site.Admin, By: s.importPage},
		{Route: "POST /users/import", For: site.Admin, By: s.importForm},
		{Route: "GET /users/:name", For: site.Admin, By: s.userPage},
		{Route: "POST /users/:name/role", For: site.Admin, Confirm: changesRole, By: s.userForm(func(c *fiber.Ctx) error { return s.setRole(c, judge.Role(c.FormValue("role"))) })},
		{Route: "POST /users/:name/disable", For: site.Admin, Confirm: disables, By: s.userForm(func(c *fiber.Ctx) error { return s.disable(c, true) })},
		{Route: "POST /users/:name/enable", For: site.Admin, Confirm: enables, By: s.userForm(func(c *fiber.Ctx) error { return s.disable(c, false) })},
		{Route: "POST /users/:name/password", For: site.Admin, Asks: "give :name another password and end all sessions of the account", Confirm: resets, By: s.resetForm},
		{Route: "POST /users/:name/factors/remove", For: site.Admin, Asks: "take all second factors off the account :name", Confirm: factors.TakesOff, By: s.userForm(s.Factors.TakeOff)},
		{Route: "POST /users/:name/keys/:id/revoke", For: site.Admin, Asks: "revoke key :id of :name", Confirm: revokes, By: s.revokeUserKeyForm},

		{Route: "POST /api/v1/sessions", For: site.Anyone, Does: "Log in: a token for a name and password", In: fiber.Map{"name": "", "password": "", "?code": ""}, Status: 201, Out: fiber.Map{"token": "", "expires_at": time.Time{}}, By: s.apiLogin},
		{Route: "DELETE /api/v1/sessions", For: site.Login, Gate: site.Gate(sessionOnly), Does: "End the session that asks", Status: 204, By: s.apiLogout},
		{Route: "GET /api/v1/account", For: site.User, Does: "Who asks", Out: accountJSON{}, By: s.apiAccount},
		{Route: "PATCH /api/v1/account", For: site.Login, Does: "Change one's own display name", In: fiber.Map{"display_name": ""}, Out: accountJSON{}, By: s.apiChangeAccount},
		{Route: "POST /api/v1/account/email", For: site.Login, Confirm: changesEmail, Does: "Have a letter sent that makes an address one's own, or with null take the address of the account away", In: fiber.Map{"email": (*string)(nil)}, Status: 202, Out: letterAsked{}, By: s.apiChangeEmail},
		{Route: "POST /api/v1/registrations", For: site.Anyone, Does: "Have a letter sent by which an account is made, where people may make their own", In: fiber.Map{"email": "", "?invitation": ""}, Status: 202, Out: letterAsked{}, By: s.apiRegister},
		{Route: "POST /api/v1/password-resets", For: site.Anyone, Does: "Have a letter sent by which the owner of an account, named by its name or address, chooses another password", In: fiber.Map{"account": ""}, Status: 202, Out: letterAsked{}, By: s.apiAskReset},
		{Route: "POST /api/v1/account/password", For: site.Login, Does: "Change one's own password", In: fiber.Map{"current": "", "new": ""}, Status: 204, By: s.apiChangePassword},
		{Route: "POST /api/v1/account/confirm", For: site.Login, Does: "Prove again who one is, for the acts of the next ten minutes that ask for it", In: fiber.Map{"password": "", "?code": ""}, Status: 204, By: s.apiConfirm},
		{Route: "DELETE " + site.OwnKeyPath, For: site.User, Does: "Revoke the key that asks", Status: 204, By: s.apiRevokeOwnKey},
		{Route: "GET /api/v1/keys", For: site.Login, Does: "One's own keys, newest first", Query: "before limit", Out: fiber.Map{"keys": []keyJSON{}, "next": site.Cursor}, By: s.apiKeys},
		{Route: "POST /api/v1/keys", For: site.Login, Confirm: makesKey, Does: "Make a key", In: fiber.Map{"label": "", "scope": "", "?expires_at": (*time.Time)(nil)}, Status: 201, Out: newKeyJSON{}, By: s.apiCreateKey},
		{Route: "DELETE /api/v1/keys/:id", For: site.Login, Does: "Revoke one's own key", Status: 204, By: s.apiRevokeKey},
		{Route: "GET /api/v1/webhooks", For: site.Login, Does: "One's own webhooks, newest first; for administrators with all those of everybody", Query: "all before limit", Out: fiber.Map{"webhooks": []webhookJSON{}, "next": site.Cursor}, By: s.apiWebhooks},
		{Route: "POST /api/v1/webhooks", For: site.Login, Confirm: makesWebhook, Does: "Make a webhook", In: fiber.Map{"url": "", "kinds": []string{}, "?everyone": false, "?problem": ""}, Status: 201, Out: newWebhookJSON{}, By: s.apiCreateWebhook},
		{Route: "GET /api/v1/webhooks/:id", For: site.Login, Does: "A webhook", Out: webhookJSON{}, By: s.apiWebhook},
		{Route: "DELETE /api/v1/webhooks/:id", For: site.Login, Confirm: deletesWebhook, Does: "Delete a webhook", Status: 204, By: s.apiDeleteWebhook},
		{Route: "POST /api/v1/webhooks/:id/disable", For: site.Login, Does: "Tell a webhook nothing", Out: webhookJSON{}, By: s.apiDisableWebhook(true)},
		{Route: "POST /api/v1/webhooks/:id/enable", For: site.Login, Does: "Tell a webhook again", Out: webhookJSON{}, By: s.apiDisableWebhook(false)},
		{Route: "POST /api/v1/webhooks/:id/rotate", For: site.Login, Confirm: changesSecret, Does: "Sign by another secret from now on", Out: newWebhookJSON{}, By: s.apiWebhookSecret},
		{Route: "POST /api/v1/webhooks/:id/test", For: site.Login, Does: "Try the address out", Status: 202, Out: fiber.Map{"delivery": int64(0)}, By: s.apiTryWebhook},
		{Route: "GET /api/v1/webhooks/:id/deliveries", For: site.Login, Does: "What a webhook was told, newest first", Query: "before limit", Out: fiber.Map{"deliveries": []deliveryJSON{}, "next": site.Cursor}, By: s.apiDeliveries},
		{Route: "POST /api/v1/webhooks/:id/deliveries/:delivery/resend", For: site.Login, Does: "Send a message again, with the same id", Status: 202, Out: fiber.Map{"delivery": int64(0)}, By: s.apiSendAgain},
		{Route: "GET /api/v1/users", For: site.Admin, Does: "Accounts by name", Query: "prefix role after limit", Out: fiber.Map{"users": []userJSON{}, "next": (*string)(nil)}, By: s.apiUsers},
		{Route: "POST /api/v1/users", For: site.Admin, Does: "Make an account with a one-time password", In: fiber.Map{"name": "", "?role": ""}, Status: 201, Out: fiber.Map{"name": "", "role": "", "password": ""}, By: s.apiCreateUser},
		{Route: "POST /api/v1/users/import", For: site.Admin, Does: "Make accounts from a table with the columns name, display_name, email, space, role and password, all or none; what is wrong is said for each line", In: ImportIn, Out: ImportedJSON{}, By: s.apiImport},
		{Route: "GET /api/v1/users/:name", For: site.Admin, Does: "An account", Out: userJSON{}, By: s.apiUser},
		{Route: "POST /api/v1/users/:name/role", For: site.Admin, Confirm: changesRole, Does: "Change what a user may do", In: fiber.Map{"role": ""}, Out: userJSON{}, By: s.apiSetRole},
		{Route: "POST /api/v1/users/:name/disable", For: site.Admin, Confirm: disables, Does: "Refuse logins and end all sessions", Out: userJSON{}, By: s.apiDisable(true)},
		{Route: "POST /api/v1/users/:name/enable", For: site.Admin, Confirm: enables, Does: "Take logins again", Out: userJSON{}, By: s.apiDisable(false)},
		{Route: "POST /api/v1/users/:name/password", For: site.Admin, Confirm: resets, Does: "Give a one-time password and end all sessions", Out: oneTime, By: s.apiResetPassword},
		{Route: "GET /api/v1/users/:name/keys", For: site.Admin, Does: "The keys of a user, newest first", Query: "before limit", Out: fiber.Map{"keys": []keyJSON{}, "next": site.Cursor}, By: s.apiUserKeys},
		{Route: "POST /api/v1/users/:name/keys", For: site.Admin, Confirm: makesKey, Does: "Make a key of a user, such as a program that has an account", In: fiber.Map{"label": "", "scope": "", "?expires_at": (*time.Time)(nil)}, Status: 201, Out: newKeyJSON{}, By: s.apiCreateUserKey},
		{Route: "DELETE /api/v1/users/:name/keys/:id", For: site.Admin, Confirm: revokes, Does: "Revoke a key of a user", Status: 204, By: s.apiRevokeUserKey},
	}
}
