package setters

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// messagesJSON says who, beside staff, reads what the checkers of a problem say.
type messagesJSON struct {
	Problem string                `json:"problem"`
	Chosen  judge.CheckerMessages `json:"checker_messages"` // on its page; "" = as the package says
	Package judge.CheckerMessages `json:"package"`          // "" = nothing, which is samples
	Counts  judge.CheckerMessages `json:"counts"`           // what holds now
	Barred  string                `json:"barred,omitempty"` // why all cannot be chosen, and does not count
}

func publicMessages(slug string, r sql.MessageRule) messagesJSON {
	out := messagesJSON{Problem: slug, Chosen: r.Chosen, Package: r.Package, Counts: r.Counts}
	if r.Barred {
		out.Barred = untold(r).String()
	}
	return out
}

// messageWords say of each choice who reads what.
var messageWords = map[judge.CheckerMessages]locale.Word{
	judge.ToldNobody: "nobody", judge.ToldSamples: "the contestant, of samples", judge.ToldAll: "the contestant, of every test",
}

// untold says why everybody must not read what the checkers say, and what is to be done before they may.
func untold(r sql.MessageRule) locale.Sentence {
	if r.Untold == "" {
		return locale.Sentence{Key: "no version is live that says which checkers it has: import the package, and make it live"}
	}
	return locale.Sentence{
		Key:  "nobody has shown that the checker %s gives no answer away: take the answer out of what it says, or write that to teammessage.txt or judgemessage.txt of icpc/1, upload it as a plugin, and bind it when its report has no warning of the kind leak",
		Args: []any{r.Untold},
	}
}

// messagesView is the control on the page of a package.
type messagesView struct {
	sql.MessageRule
	Fault *site.Fault // why the form comes back
}

// Words say who reads what.
func (messagesView) Words(c judge.CheckerMessages) locale.Word {
	if c == "" {
		c = judge.ToldSamples
	}
	return messageWords[c]
}

// Why says why all cannot be chosen.
func (v messagesView) Why() locale.Sentence { return untold(v.MessageRule) }

// Choices are what may be chosen.
func (v messagesView) Choices() (all []judge.CheckerMessages) {
	for _, c := range judge.ToldChoices {
		if c != judge.ToldAll || !v.Barred || v.Chosen == judge.ToldAll {
			all = append(all, c)
		}
	}
	return all
}

// apiMessages handles GET /api/v1/problems/:slug/checker-messages.
func (s *Room) apiMessages(c *fiber.Ctx) error {
	versions, err := s.VersionsOf(c)
	if err != nil {
		return err
	}
	rule, err := s.Store.CheckerMessages(c.UserContext(), versions[0].Problem)
	if err != nil {
		return err
	}
	return c.JSON(publicMessages(versions[0].Problem, rule))
}

// apiSetMessages handles POST /api/v1/problems/:slug/checker-messages with
// {"checker_messages"}: nobody, samples, all, or "" for what the package says.
func (s *Room) apiSetMessages(c *fiber.Ctx) error {
	if err := s.MayChange(c.UserContext(), site.ViewerOf(c), c.Params("slug")); err != nil {
		return err
	}
	f, err := site.ReadFields(c, "checker_messages")
	if err != nil {
		return err
	}
	if !f.Has("checker_messages") {
		f.Wrong.Add(site.WrongField("checker_messages", site.ReasonMissing, "The field is missing."))
	}
	who := f.Text("checker_messages")
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.setMessages(c, who); err != nil {
		return err
	}
	return s.apiMessages(c)
}

// setMessages chooses who reads what the checkers say of the problem that the
// address names, which need not be live yet.
func (s *Room) setMessages(c *fiber.Ctx, who string) error {
	versions, err := s.VersionsOf(c)
	if err != nil {
		return err
	}
	if err := s.MayChange(c.UserContext(), site.ViewerOf(c), versions[0].Problem); err != nil {
		return err
	}
	err = s.Store.SetCheckerMessages(c.UserContext(), versions[0].Problem, judge.CheckerMessages(who), site.ViewerOf(c).Name)
	wrong, refused := errors.AsType[*judge.FieldError](err)
	switch {
	case !refused:
		return err
	case wrong.Reason == site.ReasonUnknown:
		return site.WrongField(wrong.Field, wrong.Reason, "Choose nobody, samples or all.")
	}
	rule, err := s.Store.CheckerMessages(c.UserContext(), versions[0].Problem)
	if err != nil {
		return err
	}
	return site.WrongField(wrong.Field, wrong.Reason, "Everybody cannot read the words of the checkers: %s.", untold(rule))
}

// messagesForm handles POST /packages/:slug/checker-messages.
func (s *Room) messagesForm(c *fiber.Ctx) error {
	err := s.setMessages(c, c.FormValue("checker_messages"))
	if err == nil {
		return site.SeeDone(c, site.DoneSaved, site.PackageURL(c.Params("slug")))
	}
	f := s.Explain(c.UserContext(), err)
	if f.Field == "" {
		return err
	}
	return s.showPackage(c, f.Status, f)
}
