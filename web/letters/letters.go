// Package letters writes and sends letters by e-mail, and makes the links in them.
package letters

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"deepoj/host/judge"
	"deepoj/host/mail"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// The pace of letters.
const (
	letterPoll     = 2 * time.Second
	letterBatch    = 10               // over one connection
	letterLease    = 15 * time.Minute // longer than sending them takes
	letterAgain    = 15 * time.Second // after the first failure, twice as long after each other
	letterLongest  = time.Hour
	letterPatience = 72 * time.Hour
	letterMost     = 6 // that one address gets within an hour

	// LinkLife is how long a link in a letter works, from when it is sent.
	LinkLife = time.Hour

	// LinkPath is where links in letters lead.
	LinkPath = "/login/link"

	// LinkBytes is how many random ones the token of a link has.
	LinkBytes = 24

	settleTime = 10 * time.Second // to record the end of a try, also while the server stops
)

// What became of a letter, as the database keeps it.
const (
	letterSent    = "sent"
	letterNobody  = "nobody"  // there is no such account, or it has no address
	letterLimited = "limited" // the address got enough
	letterRefused = "refused" // by the mail server, for good
	letterGivenUp = "given up"
)

// errNoMail is why nothing is sent where there is no mail server.
var errNoMail = errors.New("no mail server is set: SMTP_ADDR")

// Letters are those of a site.
type Letters struct {
	*site.Site
	asked chan struct{} // something may have to be sent
}

// New makes them.
func New(shared *site.Site) *Letters { return &Letters{shared, make(chan struct{}, 1)} }

// Send writes and sends letters until ctx is done. Letters are rows, and each try has a lease, so that several
// servers share the work, and what one leaves undone, or no mail server takes, is tried again for three days. Who gets
// one is found out here, and not in the request that asks: that one does the same whoever is named.
func (s *Letters) Send(ctx context.Context) error {
	tick := time.NewTicker(letterPoll)
	defer tick.Stop()
	for {
		n, err := s.letterStep(ctx)
		if err != nil && ctx.Err() == nil {
			s.Log.DebugContext(ctx, "letters cannot be looked for", slog.Any("err", err))
		}
		if n == letterBatch && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-s.asked:
		}
	}
}

// Ask has a letter written, soon.
func (s *Letters) Ask(ctx context.Context, l judge.Letter) error {
	if err := s.Store.AskLetter(ctx, l); err != nil {
		return err
	}
	s.Wake()
	return nil
}

// Wake says that there may be letters to send.
func (s *Letters) Wake() {
	select {
	case s.asked <- struct{}{}:
	default: // it is known already
	}
}

// letterStep sends what is due, over one connection, and returns how many letters there were.
func (s *Letters) letterStep(ctx context.Context) (int, error) {
	due, err := s.Store.TakeLetters(ctx, letterBatch, letterLease)
	if err != nil {
		return 0, err
	}
	post := &post{sender: s.Config.Mail}
	defer post.close()
	for _, l := range due {
		if err := s.deliver(ctx, post, l); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

// post is a connection to the mail server that is made when the first letter needs one.
type post struct {
	sender  *mail.Sender
	session *mail.Session
	away    error // why there is none
}

func (p *post) send(ctx context.Context, l mail.Letter) error {
	if p.session == nil && p.away == nil {
		if p.sender == nil {
			p.away = errNoMail
		} else {
			p.session, p.away = p.sender.Open(ctx)
		}
	}
	if p.away != nil {
		return p.away
	}
	err := p.session.Send(l)
	if _, refused := errors.AsType[*mail.RefusedError](err); err != nil && !refused {
		p.close() // who knows what the connection is worth now
	}
	return err
}

func (p *post) close() {
	if p.session != nil {
		_ = p.session.Close() // what was taken is taken
		p.session = nil
	}
}

// deliver writes and sends one letter, and notes what became of it.
func (s *Letters) deliver(ctx context.Context, post *post, l judge.Letter) error {
	written, outcome, err := s.write(ctx, l)
	if err == nil && outcome == letterSent {
		err = post.send(ctx, written)
	}
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	log := s.Log.With(slog.Int64("letter", l.ID), slog.String("kind", string(l.Kind)), slog.Int("try", int(l.Tries)))
	_, refused := errors.AsType[*mail.RefusedError](err)
	switch {
	case err == nil:
	case refused:
		outcome = letterRefused
	case l.Age > letterPatience:
		outcome = letterGivenUp
	default:
		log.WarnContext(ctx, "a letter waits for another try", slog.Any("err", err))
		s.Count.Letters.WithLabelValues("again").Inc()
		return s.Store.LetterAgain(done, l.ID, min(letterLongest, letterAgain<<min(l.Tries-1, 10)), err.Error())
	}
	why, level := "", slog.LevelInfo
	if err != nil {
		why, level = err.Error(), slog.LevelWarn
	}
	log.Log(ctx, level, "a letter is done with", slog.String("outcome", outcome), slog.Any("err", err))
	s.Count.Letters.WithLabelValues(outcome).Inc()
	return s.Store.LetterDone(done, l.ID, outcome, written.To, why)
}

// write finds out who gets a letter, makes its link, and writes it. The outcome is letterSent if there is one to send.
func (s *Letters) write(ctx context.Context, l judge.Letter) (written mail.Letter, outcome string, err error) {
	draft, err := s.draft(ctx, l)
	if errors.Is(err, sql.ErrNotFound) {
		return written, letterNobody, nil
	}
	if err != nil {
		return written, "", err
	}
	sent, err := s.Store.LettersSent(ctx, draft.to)
	if err != nil {
		return written, "", err
	}
	if sent >= letterMost && draft.text.limited {
		return written, letterLimited, nil
	}
	link := ""
	if draft.link.Kind != "" {
		token := people.NewToken(LinkBytes)
		draft.link.Email = draft.to
		err = s.Store.MakeLink(ctx, people.HashToken(token), draft.link, LinkLife)
		if errors.Is(err, sql.ErrNotFound) { // disabled just now
			return written, letterNobody, nil
		}
		if err != nil {
			return written, "", err
		}
		link = s.Config.PublicURL + LinkPath + "?t=" + token
	}
	return draft.letter(s.Config.PublicURL, link), letterSent, nil
}

// letterDraft is a letter without its link.
type letterDraft struct {
	to   string
	user string // whose account it is about; "" = there is none yet
	text letterText
	in   *locale.Locale
	link judge.Link // without the address; without a kind there is none
}

// draft finds out who gets a letter, and in which language, or returns [sql.ErrNotFound].
func (s *Letters) draft(ctx context.Context, l judge.Letter) (letterDraft, error) {
	switch l.Kind {
	case judge.LetterRegister, judge.LetterEmail:
		owner, err := s.Store.UserByEmail(ctx, l.Asked)
		switch {
		case err == nil && owner.Name == l.User:
			return letterDraft{}, sql.ErrNotFound // it is confirmed already
		case err == nil:
			return letterDraft{to: l.Asked, user: owner.Name, text: existsText, in: reads(owner, l)}, nil
		case !errors.Is(err, sql.ErrNotFound):
			return letterDraft{}, err
		case l.Kind == judge.LetterRegister:
			return letterDraft{to: l.Asked, text: registerText, in: reads(nil, l), link: judge.Link{Kind: judge.LetterRegister, Invitation: l.Invitation}}, nil
		}
		return s.toUser(ctx, l, letterDraft{text: emailText, link: judge.Link{Kind: judge.LetterEmail, User: l.User}})
	case judge.LetterReset, judge.LetterInvite:
		u, err := s.Store.User(ctx, l.Asked)
		if errors.Is(err, sql.ErrNotFound) {
			u, err = s.Store.UserByEmail(ctx, l.Asked)
		}
		if err == nil && (u.Email == "" || u.Disabled != nil) {
			err = sql.ErrNotFound
		}
		if err != nil {
			return letterDraft{}, err
		}
		text := resetText
		if l.Kind == judge.LetterInvite {
			text = inviteText
		}
		return letterDraft{to: u.Email, user: u.Name, text: text, in: reads(u, l), link: judge.Link{Kind: judge.LetterReset, User: u.Name}}, nil
	case judge.LetterEmailChanged:
		return s.toUser(ctx, l, letterDraft{text: emailChangedText})
	case judge.LetterPasswordChanged:
		return s.toUser(ctx, l, letterDraft{text: passwordChangedText})
	}
	return letterDraft{}, sql.ErrNotFound
}

// toUser completes a draft of a letter to the address that was asked for, about an account.
func (s *Letters) toUser(ctx context.Context, l judge.Letter, d letterDraft) (letterDraft, error) {
	u, err := s.Store.User(ctx, l.User)
	if err != nil {
		return letterDraft{}, err
	}
	d.to, d.user, d.in = l.Asked, l.User, reads(u, l)
	return d, nil
}

// reads returns how somebody reads a letter: as their account says, or else as the page where it was asked for.
func reads(u *judge.User, l judge.Letter) *locale.Locale {
	if u != nil && u.Language != "" {
		return locale.For(u.Language)
	}
	return locale.For(l.Language)
}
