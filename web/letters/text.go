package letters

import (
	"net/url"
	"strings"

	"deepoj/host/mail"
	"deepoj/web/locale"
)

// letterText is what a letter says, paragraph by paragraph. Nothing that a stranger typed is in a letter: it could not
// be told from what this site says.
type letterText struct {
	subject locale.Word // the name of the site fills it
	text    func(f facts) []locale.Sentence
	limited bool // anybody may ask for it
}

// facts are what fills a letter.
type facts struct {
	site, login, reset, account string // addresses
	user, link                  string
}

// plain is a paragraph that is no sentence.
func plain(text string) locale.Sentence { return locale.Sentence{Key: "%s", Args: []any{text}} }

func say(key locale.Word, args ...any) locale.Sentence { return locale.Sentence{Key: key, Args: args} }

const onceWorks locale.Word = "Open this link within an hour. It works once:"

var (
	registerText = letterText{"Make your account at %s", func(f facts) []locale.Sentence {
		return []locale.Sentence{
			say("Somebody, perhaps you, wants to make an account at %s with this address.", f.site), say(onceWorks), plain(f.link),
			say("If it was not you, there is nothing to do: without the link no account is made."),
		}
	}, true}

	existsText = letterText{"Your account at %s", func(f facts) []locale.Sentence {
		return []locale.Sentence{
			say("Somebody, perhaps you, gave this address at %s for an account. It is that of an account already:", f.site), plain(f.user),
			say("Log in at %s. If you do not know the password, ask for another at %s.", f.login, f.reset),
			say("If it was not you, there is nothing to do."),
		}
	}, true}

	resetText = letterText{"A new password for your account at %s", func(f facts) []locale.Sentence {
		return []locale.Sentence{
			say("Somebody, perhaps you, asked for a new password for the account %s at %s.", f.user, f.site), say(onceWorks), plain(f.link),
			say("If it was not you, there is nothing to do: the password stays as it is."),
		}
	}, true}

	inviteText = letterText{"Your account at %s", func(f facts) []locale.Sentence {
		return []locale.Sentence{
			say("The account %s was made for you at %s. You choose its password.", f.user, f.site), say(onceWorks), plain(f.link),
			say("Later, have another link sent to you at %s: give the name %s.", f.reset, f.user),
		}
	}, false}

	emailText = letterText{"Confirm your e-mail address at %s", func(f facts) []locale.Sentence {
		return []locale.Sentence{
			say("The owner of the account %s at %s gave this address as theirs.", f.user, f.site), say(onceWorks), plain(f.link),
			say("If it was not you, there is nothing to do: without the link the address is not used."),
		}
	}, true}

	emailChangedText = letterText{"Your e-mail address at %s was changed", func(f facts) []locale.Sentence {
		return []locale.Sentence{
			say("The account %s at %s has another e-mail address now, or none. Letters do not go here any more.", f.user, f.site), say("If it was not you, tell whoever runs the site."),
		}
	}, false}

	passwordChangedText = letterText{"Your password at %s was changed", func(f facts) []locale.Sentence {
		return []locale.Sentence{
			say("The account %s at %s has another password, which was chosen by a link that was sent here. All its sessions have ended.", f.user, f.site),
			say("If it was not you, tell whoever runs the site. Keys of programs work on: look at %s which there are.", f.account),
		}
	}, false}
)

// letter writes it.
func (d letterDraft) letter(site, link string) mail.Letter {
	host := site
	if u, err := url.Parse(site); err == nil && u.Host != "" {
		host = u.Host
	}
	var text strings.Builder
	for i, s := range d.text.text(facts{site, site + "/login", site + "/login/reset", site + "/account", d.user, link}) {
		if i > 0 {
			text.WriteString("\n")
		}
		text.WriteString(d.in.Said(s) + "\n")
	}
	return mail.Letter{To: d.to, Subject: d.in.Say(d.text.subject, host), Text: text.String()}
}
