// Package spaces serves courses and contests: who takes part in which problems, when, and what each achieved.
//
//	addresses.go  what the room answers to
//	enrol.go      links that invite, and lists of people
//	fields.go     settings, members and problems as they come in, and what is wrong with them
//	pages.go      the pages of spaces
//	print.go      the problems of a space on paper
//	problems.go   problems of a space
//	room.go       what the room holds
//	spaces.go     spaces, their members and scores, by the API
package spaces

import (
	"deepoj/web/people"
	"deepoj/web/site"
	"deepoj/web/solve"
)

// Room answers for spaces.
type Room struct {
	*site.Site
	people *people.Room
	solve  *solve.Room
}

// New makes the room. Accounts are asked for a proof by one room, and submissions shown by another.
func New(shared *site.Site, accounts *people.Room, submissions *solve.Room) *Room {
	return &Room{shared, accounts, submissions}
}
