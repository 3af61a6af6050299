package roster

import (
	"slices"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
)

// What becomes of a line.
const (
	Makes = "make" // an account
	Fills = "fill" // an account gets a display name or an address that it lacks
	Joins = "join" // an account joins a space
	Stays = "same" // nothing changes
)

// Step is what would become of a line.
type Step struct {
	Row

	Does string
	Note *judge.FieldError // what is not done; nil = nothing
}

// Plan is what would become of a list.
type Plan struct {
	*List

	Steps  []Step
	Counts map[string]int // of the steps
	Staff  bool           // somebody gets more rights in a space than a contestant's
}

// Asks are what has to be looked up for a list.
func (l *List) Asks() sql.Asked {
	a := sql.Asked{Names: []string{}, Emails: []string{}, Spaces: []string{}}
	for _, r := range l.Rows {
		a.Names = append(a.Names, r.Name)
		if r.Email != "" {
			a.Emails = append(a.Emails, r.Email)
		}
		if r.Space != "" && !slices.Contains(a.Spaces, r.Space) {
			a.Spaces = append(a.Spaces, r.Space)
		}
	}
	return a
}

// Plan says what would become of a list, with what there is. Nothing that there is changes: who has an account keeps
// it, with password, name and address, and who is a member keeps the role. With fill an account gets what it lacks.
func (l *List) Plan(k sql.Known, fill bool) *Plan {
	p := &Plan{List: &List{Rows: l.Rows, Problems: slices.Clone(l.Problems), More: l.More}, Counts: map[string]int{}}
	made := map[string]bool{}
	for _, r := range l.Rows {
		if r.Space != "" && !k.Spaces[r.Space] {
			p.wrong(r.Line, ColumnSpace, "unknown", "There is no space %.64q.", r.Space)
		}
		if owner := k.Owners[r.Email]; r.Email != "" && owner != "" && owner != r.Name {
			p.wrong(r.Line, ColumnEmail, "duplicate", "The address is that of another account.")
		}
		s := p.step(r, k, fill, made[r.Name])
		made[r.Name] = true
		p.Steps = append(p.Steps, s)
		p.Counts[s.Does]++
	}
	return p
}

// stays is the reason of a note: what there is stays as it is.
const stays = "exists"

func (p *Plan) step(r Row, k sql.Known, fill, before bool) Step {
	s := Step{Row: r, Does: Stays}
	role, member := k.Members[sql.Membership{Space: r.Space, User: r.Name}]
	if r.Space != "" && !member {
		s.Does = Joins
		p.Staff = p.Staff || r.Role != judge.SpaceContestant
	}
	u, there := k.Accounts[r.Name]
	switch {
	case before: // the account is that of a line above
	case !there:
		s.Does = Makes
	case fill && (u.DisplayName == "" && r.DisplayName != "" || u.Email == "" && r.Email != ""):
		s.Does = Fills
	}
	switch {
	case member && role != r.Role:
		s.Note = judge.Wrong(ColumnRole, stays, "A member already, as %s: the role stays.", role)
	case there && r.Password != "":
		s.Note = judge.Wrong(ColumnPassword, stays, "The account has a password: it stays.")
	case there && (r.DisplayName != "" && u.DisplayName != r.DisplayName && (u.DisplayName != "" || !fill) || r.Email != "" && u.Email != r.Email && (u.Email != "" || !fill)):
		s.Note = judge.Wrong(ColumnName, stays, "The account has a name or address of its own: they stay.")
	}
	return s
}

// CheckPasswords notes which passwords a list brings that nobody may have. Then all that is wrong is in the order of the
// lines.
func (p *Plan) CheckPasswords() error {
	weighed := 0
	for _, s := range p.Steps {
		if s.Password == "" || s.Does != Makes {
			continue
		}
		if weighed++; weighed > MaxPasswords {
			break // which is a mistake of its own
		}
		e, err := people.CheckNewPassword(ColumnPassword, s.Password, judge.User{Name: s.Name, DisplayName: s.DisplayName, Email: s.Email})
		if err != nil {
			return err
		}
		if e != nil {
			p.mistake(s.Line, e)
		}
	}
	slices.SortStableFunc(p.Problems, func(a, b Mistake) int { return a.Line - b.Line })
	return nil
}

// Enrolment is what the plan changes, with the hashes of new passwords by name. Who has none there is invited by a letter.
func (p *Plan) Enrolment(hashes map[string]string, unknown string) sql.Enrolment {
	e := sql.Enrolment{Join: map[sql.Membership]judge.SpaceRole{}}
	for _, s := range p.Steps {
		switch s.Does {
		case Makes:
			hash, has := hashes[s.Name]
			if !has {
				hash = unknown
			}
			e.Make = append(e.Make, sql.NewPerson{Name: s.Name, DisplayName: s.DisplayName, Email: s.Email, PasswordHash: hash, OneTime: has, Invite: !has})
		case Fills:
			e.Fill = append(e.Fill, judge.User{Name: s.Name, DisplayName: s.DisplayName, Email: s.Email})
		}
		if s.Space != "" {
			e.Join[sql.Membership{Space: s.Space, User: s.Name}] = s.Role
		}
	}
	return e
}
