package people

import (
	"net/url"
	"strings"

	"deepoj/host/mail"
)

// letterText is what a letter says. In it HOST and SITE stand for this site, USER for the account and LINK for the link.
// Nothing that a stranger typed is in a letter: it could not be told from what this site says.
type letterText struct {
	subject, text string
	limited       bool // anybody may ask for it
}

const once = `Open this link within an hour. It works once:

LINK

`

var (
	registerText = letterText{"Make your account at HOST", `Somebody, perhaps you, wants to make an account at SITE with this address.

` + once + `If it was not you, there is nothing to do: without the link no account is made.
`, true}

	existsText = letterText{"Your account at HOST", `Somebody, perhaps you, gave this address at SITE for an account. It is that of an account already:

USER

Log in at SITE/login. If you do not know the password, ask for another at SITE/login/reset.

If it was not you, there is nothing to do.
`, true}

	resetText = letterText{"A new password for your account at HOST", `Somebody, perhaps you, asked for a new password for the account USER at SITE.

` + once + `If it was not you, there is nothing to do: the password stays as it is.
`, true}

	inviteText = letterText{"Your account at HOST", `The account USER was made for you at SITE. You choose its password.

` + once + `Later, have another link sent to you at SITE/login/reset: give the name USER.
`, false}

	emailText = letterText{"Confirm your e-mail address at HOST", `The owner of the account USER at SITE gave this address as theirs.

` + once + `If it was not you, there is nothing to do: without the link the address is not used.
`, true}

	emailChangedText = letterText{"Your e-mail address at HOST was changed", `The account USER at SITE has another e-mail address now, or none. Letters do not go here any more.

If it was not you, tell whoever runs the site.
`, false}

	passwordChangedText = letterText{"Your password at HOST was changed", `The account USER at SITE has another password, which was chosen by a link that was sent here. All its sessions have ended.

If it was not you, tell whoever runs the site. Keys of programs work on: look at SITE/account which there are.
`, false}
)

// letter fills in what the text stands for.
func (t letterText) letter(to, user, site, link string) mail.Letter {
	host := site
	if u, err := url.Parse(site); err == nil && u.Host != "" {
		host = u.Host
	}
	fill := strings.NewReplacer("HOST", host, "SITE", site, "USER", user, "LINK", link)
	return mail.Letter{To: to, Subject: fill.Replace(t.subject), Text: fill.Replace(t.text)}
}
