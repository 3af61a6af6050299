package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// refusal is what a caller is told: a [*judge.FieldError] as it is, and the rest by what was tried.
func refusal(what string, err error) error {
	if _, ok := errors.AsType[*judge.FieldError](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", what, named(missing(err)))
}

// Organizations returns organizations of a space by code, from the one behind after on.
func (s *Store) Organizations(ctx context.Context, space, after string, limit int) ([]judge.Organization, error) {
	found, err := s.q.OrganizationList(ctx, s.db.Main, dbsqlc.OrganizationListParams{Space: space, After: after, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list organizations of space %s: %w", space, err)
	}
	out := make([]judge.Organization, len(found))
	for i, o := range found {
		out[i] = organization(o)
	}
	return out, nil
}

func organization(o dbsqlc.Organization) judge.Organization {
	return judge.Organization{
		ID: o.ID, Code: o.Code, ICPCID: o.IcpcID, Name: o.Name, FormalName: o.FormalName, Country: o.Country, CountrySubdivision: o.Subdivision,
		URL: o.Url, Twitter: o.Twitter,
	}
}

func group(g dbsqlc.TeamGroup) judge.TeamGroup {
	return judge.TeamGroup{ID: g.ID, Code: g.Code, ICPCID: g.IcpcID, Name: g.Name, Type: g.Type, Ranked: g.Ranked, Sort: g.Sort}
}

// PutOrganizations adds organizations to a space, or changes those of the same code.
func (s *Store) PutOrganizations(ctx context.Context, space string, list []judge.Organization, by string) error {
	return s.put(ctx, space, "organization", codes(list, func(o judge.Organization) string { return o.Code }), by, func(tx pgx.Tx, id int64) error {
		return s.writeOrganizations(ctx, tx, id, list)
	})
}

func (s *Store) writeOrganizations(ctx context.Context, tx pgx.Tx, space int64, list []judge.Organization) error {
	rows := make([]dbsqlc.OrganizationPutParams, len(list))
	for i, o := range list {
		rows[i] = dbsqlc.OrganizationPutParams{
			SpaceID: space, Code: o.Code, IcpcID: o.ICPCID, Name: o.Name, FormalName: o.FormalName, Country: o.Country, Subdivision: o.CountrySubdivision,
			Url: o.URL, Twitter: o.Twitter,
		}
	}
	return all(s.q.OrganizationPut(ctx, tx, rows))
}

// Lineup is what comes into a space together.
type Lineup struct {
	Organizations []judge.Organization
	Groups        []judge.TeamGroup
	Participants  []judge.Participant
	Accounts      []Account // that participants name as members, and that there are not yet
}

// Account is one that all members of a team use.
type Account struct{ Name, DisplayName, PasswordHash string }

// PutLineup is PutOrganizations, PutGroups and PutParticipants, all or nothing, with the accounts that they need. One that
// somebody else has made meanwhile is a [*judge.FieldError].
func (s *Store) PutLineup(ctx context.Context, space string, l Lineup, by string) error {
	names := codes(l.Participants, func(p judge.Participant) string { return p.Code })
	return s.put(ctx, space, "participant", names, by, func(tx pgx.Tx, id int64) error {
		if err := s.writeOrganizations(ctx, tx, id, l.Organizations); err != nil {
			return err
		}
		if err := s.writeGroups(ctx, tx, id, l.Groups); err != nil {
			return err
		}
		if err := s.makeAccounts(ctx, tx, space, l.Accounts, by); err != nil {
			return err
		}
		if err := s.checkParticipants(ctx, tx, id, l.Participants, names); err != nil {
			return err
		}
		return s.writeParticipants(ctx, tx, id, l.Participants)
	})
}

func (s *Store) makeAccounts(ctx context.Context, tx pgx.Tx, space string, list []Account, by string) error {
	if len(list) == 0 {
		return nil
	}
	var p dbsqlc.RosterMakeParams
	for _, a := range list {
		p.Names, p.Hashes, p.OneTimes = append(p.Names, a.Name), append(p.Hashes, a.PasswordHash), append(p.OneTimes, false)
		p.DisplayNames, p.Emails = append(p.DisplayNames, a.DisplayName), append(p.Emails, "")
	}
	made, err := s.q.RosterMake(ctx, tx, p)
	if err != nil {
		return err
	}
	if len(made) < len(list) {
		return judge.Wrong("text", "duplicate", "somebody made one of the accounts meanwhile: look at the preview again")
	}
	detail, err := json.Marshal(map[string]any{"made": made})
	if err != nil {
		return fmt.Errorf("encode the names of accounts: %w", err)
	}
	return s.q.RosterLog(ctx, tx, dbsqlc.RosterLogParams{By: by, Subject: "space:" + space, Detail: detail})
}

// RemoveOrganization removes one; ErrNotFound, or ErrInUse where participants are of it.
func (s *Store) RemoveOrganization(ctx context.Context, space, code, by string) error {
	return s.take(ctx, space, "organization", code, "round_organization_remove", by, func(tx pgx.Tx, id int64) (bool, bool, error) {
		n, err := s.q.OrganizationRemove(ctx, tx, dbsqlc.OrganizationRemoveParams{SpaceID: id, Code: code})
		return n > 0, n > 0, err
	})
}

// Groups returns groups of a space by code, from the one behind after on.
func (s *Store) Groups(ctx context.Context, space, after string, limit int) ([]judge.TeamGroup, error) {
	found, err := s.q.TeamGroupList(ctx, s.db.Main, dbsqlc.TeamGroupListParams{Space: space, After: after, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list groups of space %s: %w", space, err)
	}
	out := make([]judge.TeamGroup, len(found))
	for i, g := range found {
		out[i] = group(g)
	}
	return out, nil
}

// PutGroups adds groups to a space, or changes those of the same code.
func (s *Store) PutGroups(ctx context.Context, space string, list []judge.TeamGroup, by string) error {
	return s.put(ctx, space, "group", codes(list, func(g judge.TeamGroup) string { return g.Code }), by, func(tx pgx.Tx, id int64) error {
		return s.writeGroups(ctx, tx, id, list)
	})
}

func (s *Store) writeGroups(ctx context.Context, tx pgx.Tx, space int64, list []judge.TeamGroup) error {
	rows := make([]dbsqlc.TeamGroupPutParams, len(list))
	for i, g := range list {
		rows[i] = dbsqlc.TeamGroupPutParams{SpaceID: space, Code: g.Code, IcpcID: g.ICPCID, Name: g.Name, Type: g.Type, Ranked: g.Ranked, Sort: g.Sort}
	}
	return all(s.q.TeamGroupPut(ctx, tx, rows))
}

// RemoveGroup removes one; ErrNotFound, or ErrInUse where participants are in it.
func (s *Store) RemoveGroup(ctx context.Context, space, code, by string) error {
	return s.take(ctx, space, "group", code, "round_group_remove", by, func(tx pgx.Tx, id int64) (bool, bool, error) {
		n, err := s.q.TeamGroupRemove(ctx, tx, dbsqlc.TeamGroupRemoveParams{SpaceID: id, Code: code})
		return n > 0, n > 0, err
	})
}

// Participants returns participants of a space by code, from the one behind after on.
func (s *Store) Participants(ctx context.Context, space, after string, limit int) ([]judge.Participant, error) {
	return s.participants(ctx, dbsqlc.ParticipantListParams{Space: space, After: after, Max: pg.Bounded(limit)})
}

// Participant returns one, or ErrNotFound.
func (s *Store) Participant(ctx context.Context, space, code string) (*judge.Participant, error) {
	found, err := s.participants(ctx, dbsqlc.ParticipantListParams{Space: space, Code: code, Max: 1})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("participant %s of space %s: %w", code, space, pg.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

func (s *Store) participants(ctx context.Context, a dbsqlc.ParticipantListParams) ([]judge.Participant, error) {
	found, err := s.q.ParticipantList(ctx, s.db.Main, a)
	if err != nil {
		return nil, fmt.Errorf("list participants of space %s: %w", a.Space, err)
	}
	out := make([]judge.Participant, len(found))
	for i, p := range found {
		out[i] = participant(p)
	}
	return out, nil
}

func participant(p dbsqlc.ParticipantListRow) judge.Participant {
	members := make([]judge.ParticipantMember, len(p.Users))
	for k, u := range p.Users {
		members[k] = judge.ParticipantMember{User: u, Role: judge.ParticipantRole(p.Roles[k])}
	}
	return judge.Participant{
		ID: p.ID, Code: p.Code, ICPCID: p.IcpcID, Label: p.Label, Name: p.Name, DisplayName: p.DisplayName, Organization: p.Organization,
		Groups: p.Groups, Room: p.Room, Ranked: p.Ranked, Hidden: p.Hidden, Status: judge.ParticipantStatus(p.Status), Reason: p.Reason, Members: members,
	}
}

// PutParticipants adds participants to a space, or changes those of the same code, all or none. Their contestants become
// members of the space. An organization, a group or an account that does not exist, and a contestant who is in another
// team, are a [*judge.FieldError].
func (s *Store) PutParticipants(ctx context.Context, space string, list []judge.Participant, by string) error {
	names := codes(list, func(p judge.Participant) string { return p.Code })
	return s.put(ctx, space, "participant", names, by, func(tx pgx.Tx, id int64) error {
		if err := s.checkParticipants(ctx, tx, id, list, names); err != nil {
			return err
		}
		return s.writeParticipants(ctx, tx, id, list)
	})
}

// writeParticipants adds participants, or changes those of the same code, with their members and groups.
func (s *Store) writeParticipants(ctx context.Context, tx pgx.Tx, id int64, list []judge.Participant) error {
	rows := make([]dbsqlc.ParticipantPutParams, len(list))
	for i, p := range list {
		rows[i] = dbsqlc.ParticipantPutParams{
			SpaceID: id, Code: p.Code, IcpcID: p.ICPCID, Label: p.Label, Name: p.Name, DisplayName: p.DisplayName, Organization: p.Organization,
			Room: p.Room, Ranked: p.Ranked, Hidden: p.Hidden, Status: pg.OrDefault(string(p.Status), string(judge.ParticipantActive)), Reason: p.Reason,
		}
	}
	ids, first := make([]int64, len(list)), error(nil)
	s.q.ParticipantPut(ctx, tx, rows).QueryRow(func(i int, id int64, err error) {
		ids[i] = id
		if first == nil {
			first = err
		}
	})
	if first != nil {
		return first
	}
	if err := s.q.ParticipantApart(ctx, tx, ids); err != nil {
		return err
	}
	together := dbsqlc.ParticipantTogetherParams{
		SpaceID: id, MemberOf: []int64{}, Users: []string{}, Roles: []string{}, GroupOf: []int64{}, Groups: []string{},
	}
	for i, p := range list {
		for _, m := range p.Members {
			together.MemberOf, together.Users, together.Roles = append(together.MemberOf, ids[i]), append(together.Users, m.User), append(together.Roles, string(m.Role))
		}
		for _, g := range p.Groups {
			together.GroupOf, together.Groups = append(together.GroupOf, ids[i]), append(together.Groups, g)
		}
	}
	return s.q.ParticipantTogether(ctx, tx, together)
}

// checkParticipants refuses what names something that does not exist, and who would be in two teams.
func (s *Store) checkParticipants(ctx context.Context, tx pgx.Tx, space int64, list []judge.Participant, names []string) error {
	asked := dbsqlc.ParticipantKnownParams{SpaceID: space, Codes: names, Organizations: []string{}, Groups: []string{}, Users: []string{}}
	contestants := map[string]string{}
	users := []string{}
	for _, p := range list {
		asked.Organizations, asked.Groups = append(asked.Organizations, p.Organization), append(asked.Groups, p.Groups...)
		for _, m := range p.Members {
			asked.Users = append(asked.Users, m.User)
			if m.Role != judge.MemberContestant {
				continue
			}
			if other, in := contestants[m.User]; in {
				return judge.Wrong("members", "in_two", "%s would be in %s and in %s: nobody is in two teams", m.User, other, p.Code)
			}
			contestants[m.User] = p.Code
			users = append(users, m.User)
		}
	}
	unknown, err := s.q.ParticipantKnown(ctx, tx, asked)
	if err != nil {
		return err
	}
	for _, u := range []struct {
		field, what string
		list        []string
	}{{"organization", "organizations", unknown.Organizations}, {"groups", "groups", unknown.Groups}, {"members", "accounts", unknown.Users}} {
		if len(u.list) > 0 {
			return judge.Wrong(u.field, "unknown", "there are no %s %s: make them first", u.what, strings.Join(u.list, ", "))
		}
	}
	if len(unknown.Members) > 0 {
		return judge.Wrong("code", "follows", "%s is how the round that follows the space calls a member: choose another short name", unknown.Members[0])
	}
	taken, err := s.q.ParticipantTaken(ctx, tx, dbsqlc.ParticipantTakenParams{SpaceID: space, Users: users, Codes: names})
	if err != nil {
		return err
	}
	if len(taken) > 0 {
		return judge.Wrong("members", "in_two", "%s is in %s: nobody is in two teams", taken[0].UserName, taken[0].Code)
	}
	return nil
}

// RemoveParticipant removes one who has handed nothing in; ErrNotFound, or ErrInUse.
func (s *Store) RemoveParticipant(ctx context.Context, space, code, by string) error {
	return s.take(ctx, space, "participant", code, "round_participant_remove", by, func(tx pgx.Tx, id int64) (bool, bool, error) {
		v, err := s.q.ParticipantRemove(ctx, tx, dbsqlc.ParticipantRemoveParams{SpaceID: id, Code: code})
		return v.Found, v.Done, err
	})
}

func codes[T any](list []T, of func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}

// put changes things of a space, one caller at a time.
func (s *Store) put(ctx context.Context, space, kind string, codes []string, by string, put func(pgx.Tx, int64) error) error {
	seen := map[string]bool{}
	for _, code := range codes {
		if seen[code] {
			return judge.Wrong("code", "duplicate", "%q is there twice: give each a code of its own", code)
		}
		seen[code] = true
	}
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		id, err := s.q.SpaceHoldSlug(ctx, tx, space)
		if err != nil {
			return err
		}
		if err := put(tx, id); err != nil {
			return err
		}
		return s.changed(ctx, tx, change{
			space: id, kind: kind, act: "round_" + kind, subject: "space:" + space, detail: map[string]any{"codes": codes}, by: by,
		})
	})
	if err != nil {
		return refusal(fmt.Sprintf("change %ss of space %s", kind, space), err)
	}
	return nil
}

// take does something to one thing of a space, which act names in the audit log.
func (s *Store) take(ctx context.Context, space, kind, code, act, by string, take func(pgx.Tx, int64) (found, done bool, err error)) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		id, err := s.q.SpaceHoldSlug(ctx, tx, space)
		if err != nil {
			return err
		}
		found, done, err := take(tx, id)
		switch {
		case err != nil:
			return err
		case !found:
			return pg.ErrNotFound
		case !done:
			return pg.ErrInUse
		}
		return s.changed(ctx, tx, change{
			space: id, kind: kind, object: code, act: act, subject: "space:" + space, detail: map[string]any{"code": code}, by: by,
		})
	})
	if err != nil {
		return refusal(fmt.Sprintf("%s %s of space %s", strings.ReplaceAll(act, "_", " "), code, space), err)
	}
	return nil
}
