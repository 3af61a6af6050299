package lineup

import (
	"encoding/json"
	"strings"

	"deepoj/host/judge"
)

// thing is an entry of a JSON list: a team, an organization or a group, which its members tell.
type thing struct {
	ID          text    `json:"id"`
	ICPCID      *text   `json:"icpc_id"`
	Name        *string `json:"name"`
	DisplayName *string `json:"display_name"`
	FormalName  *string `json:"formal_name"`
	Label       *text   `json:"label"`
	Country     string  `json:"country"`
	Subdivision string  `json:"country_subdivision"`
	URL         string  `json:"url"`
	Twitter     string  `json:"twitter_account"`
	Hashtag     string  `json:"twitter_hashtag"`
	Type        string  `json:"type"`
	Sort        *int32  `json:"sortorder"`
	Hidden      *bool   `json:"hidden"`

	Organization *text   `json:"organization_id"`
	Groups       *[]text `json:"group_ids"`
	Username     *string `json:"username"`
	Password     string  `json:"password"`
	Team         text    `json:"team_id"`
	Role         *string `json:"role"`
	Location     *struct {
		Description string `json:"description"`
	} `json:"location"`
}

// text is a string or a number: registration systems write identifiers as either.
type text string

// UnmarshalJSON reads either.
func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err == nil {
		*t = text(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	*t = text(n.String())
	return nil
}

func plain(t *text) *string {
	if t == nil {
		return nil
	}
	return new(string(*t))
}

// readJSON reads a list of objects. Members that nothing is made of are passed over, as the formats have many.
func (l *List) readJSON(raw []byte) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		l.wrong(0, "", "invalid", "The list cannot be read: %v.", err)
		return
	}
	if len(list) > MaxRows {
		l.wrong(0, "", "too_many", "A list has up to %d teams; import the rest by itself.", MaxRows)
		return
	}
	things := make([]thing, len(list))
	teams, organizations := false, false
	for i, one := range list {
		if err := json.Unmarshal(one, &things[i]); err != nil {
			l.wrong(i+1, "", "invalid", "The entry cannot be read: %v.", err)
			continue
		}
		v := things[i]
		teams = teams || v.Organization != nil || v.Groups != nil || v.Label != nil || v.DisplayName != nil
		organizations = organizations || v.FormalName != nil || v.Country != ""
		if v.Username != nil {
			l.Logins = append(l.Logins, Login{Line: i + 1, Kind: v.Type, Name: *v.Username, DisplayName: or(v.Name), Password: v.Password, Team: string(v.Team)})
		} else if v.Role != nil {
			l.wrong(i+1, "", "unknown", "This is a list of %s. Import people with their passwords on the page of members of the space, and teams here.", "people")
			return
		}
	}
	for i, v := range things {
		switch {
		case v.Username != nil: // it is among the accounts
		case teams:
			l.Teams = append(l.Teams, v.team(i+1))
		case organizations:
			l.Organizations = append(l.Organizations, Organization{i + 1, judge.Organization{
				Code: string(v.ID), ICPCID: or(plain(v.ICPCID)), Name: or(v.Name), FormalName: or(v.FormalName), Country: v.Country, CountrySubdivision: v.Subdivision,
				URL: v.URL, Twitter: strings.TrimPrefix(firstOf(v.Twitter, v.Hashtag), "@"),
			}})
		default:
			g := Group{i + 1, judge.TeamGroup{Code: string(v.ID), ICPCID: or(plain(v.ICPCID)), Name: or(v.Name), Type: v.Type, Ranked: v.Hidden == nil || !*v.Hidden}}
			if v.Sort != nil {
				g.Sort = *v.Sort
			}
			l.Groups = append(l.Groups, g)
		}
	}
}

func or(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (v thing) team(line int) Team {
	t := Team{
		Line: line, Code: string(v.ID), Name: v.Name, DisplayName: v.DisplayName, ICPCID: plain(v.ICPCID), Label: plain(v.Label), Organization: plain(v.Organization), Hidden: v.Hidden,
	}
	if t.Name == nil {
		t.Name = v.DisplayName
	}
	if v.Groups != nil {
		t.Groups = new([]string{})
		for _, g := range *v.Groups {
			*t.Groups = append(*t.Groups, string(g))
		}
	}
	if v.Location != nil {
		t.Room = &v.Location.Description
	}
	return t
}
