package sql

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// Known is what there is already of the people of a list.
type Known struct {
	Accounts map[string]judge.User // by name: with display name and address
	Owners   map[string]string     // names, by address
	Spaces   map[string]bool       // by short name
	Members  map[Membership]judge.SpaceRole
}

// Membership is somebody's place in a space.
type Membership struct{ Space, User string }

// Asked are the names, addresses and spaces of a list of people.
type Asked struct{ Names, Emails, Spaces []string }

// NewPerson is an account that a list has made.
type NewPerson struct {
	Name, DisplayName, Email, PasswordHash string

	OneTime bool // the password has to be changed first
	Invite  bool // a letter invites its owner to choose the password
}

// Enrolment is what a list of people changes. Nothing is taken away, and nothing that there is changes.
type Enrolment struct {
	Make []NewPerson
	Fill []judge.User // accounts that get the display name or address that they lack
	Join map[Membership]judge.SpaceRole

	Language string // of letters to those who are invited
}

// Known looks up what there is of the people of a list.
func (s *Site) Known(ctx context.Context, a Asked) (Known, error) { return s.known(ctx, s.main, a) }

func (s *Site) known(ctx context.Context, db dbsqlc.DBTX, a Asked) (Known, error) {
	k := Known{Accounts: map[string]judge.User{}, Owners: map[string]string{}, Spaces: map[string]bool{}, Members: map[Membership]judge.SpaceRole{}}
	accounts, err := s.q.RosterAccounts(ctx, db, dbsqlc.RosterAccountsParams{Names: a.Names, Emails: a.Emails})
	if err != nil {
		return k, fmt.Errorf("look up the accounts of a list: %w", err)
	}
	for _, u := range accounts {
		k.Accounts[u.Name] = judge.User{Name: u.Name, DisplayName: u.DisplayName, Email: u.Email}
		if u.Email != "" {
			k.Owners[u.Email] = u.Name
		}
	}
	spaces, err := s.q.RosterSpaces(ctx, db, a.Spaces)
	if err != nil {
		return k, fmt.Errorf("look up the spaces of a list: %w", err)
	}
	for _, slug := range spaces {
		k.Spaces[slug] = true
	}
	members, err := s.q.RosterMembers(ctx, db, dbsqlc.RosterMembersParams{Spaces: a.Spaces, Names: a.Names})
	if err != nil {
		return k, fmt.Errorf("look up the members of a list: %w", err)
	}
	for _, m := range members {
		k.Members[Membership{m.Slug, m.UserName}] = judge.SpaceRole(m.Role)
	}
	return k, nil
}

// Enrol looks up what there is, has the function say what to change, and changes all of it or nothing. The log gets one
// row, of the subject. It returns [ErrExists] or [ErrEmailTaken] if somebody else made one of the accounts meanwhile.
func (s *Site) Enrol(ctx context.Context, a Asked, by, subject string, decide func(Known) (Enrolment, error)) error {
	err := pgx.BeginFunc(ctx, s.main, func(tx pgx.Tx) error {
		k, err := s.known(ctx, tx, a)
		if err != nil {
			return err
		}
		e, err := decide(k)
		if err != nil {
			return err
		}
		return s.enrol(ctx, tx, e, by, subject)
	})
	if taken(err) {
		err = ErrEmailTaken
	}
	if err != nil {
		return fmt.Errorf("import people: %w", err)
	}
	return nil
}

func (s *Site) enrol(ctx context.Context, tx pgx.Tx, e Enrolment, by, subject string) error {
	var made dbsqlc.RosterMakeParams
	var invited []string
	for _, p := range e.Make {
		made.Names, made.Hashes, made.OneTimes = append(made.Names, p.Name), append(made.Hashes, p.PasswordHash), append(made.OneTimes, p.OneTime)
		made.DisplayNames, made.Emails = append(made.DisplayNames, p.DisplayName), append(made.Emails, p.Email)
		if p.Invite {
			invited = append(invited, p.Name)
		}
	}
	names, err := s.q.RosterMake(ctx, tx, made)
	if err != nil {
		return err
	}
	if len(names) < len(e.Make) {
		return ErrExists
	}
	var fill dbsqlc.RosterFillParams
	for _, u := range e.Fill {
		fill.Names, fill.DisplayNames, fill.Emails = append(fill.Names, u.Name), append(fill.DisplayNames, u.DisplayName), append(fill.Emails, u.Email)
	}
	filled, err := s.q.RosterFill(ctx, tx, fill)
	if err != nil {
		return err
	}
	var join dbsqlc.RosterJoinParams
	for m, role := range e.Join {
		join.Names, join.Spaces, join.Roles = append(join.Names, m.User), append(join.Spaces, m.Space), append(join.Roles, string(role))
	}
	joined, err := s.q.RosterJoin(ctx, tx, join)
	if err != nil {
		return err
	}
	if err := s.q.RosterInvite(ctx, tx, dbsqlc.RosterInviteParams{Names: invited, Language: e.Language}); err != nil {
		return err
	}
	if len(names)+int(filled)+int(joined) == 0 {
		return nil // nothing happened
	}
	detail, err := json.Marshal(map[string]any{"made": names, "filled": filled, "joined": joined, "invited": len(invited)})
	if err != nil {
		return err
	}
	return s.q.RosterLog(ctx, tx, dbsqlc.RosterLogParams{By: by, Subject: subject, Detail: detail})
}
