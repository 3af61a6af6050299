package clics

import (
	"deepoj/host/contest/clics"
	"deepoj/web/site"
)

// Addresses are the addresses of the Contest API, which has a description of its own.
func (s *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "GET /clics", For: site.Guest, By: s.newest},
		{Route: "GET /clics/contests", For: site.Guest, By: s.newest},
		{Route: "GET /clics/contests/*", For: site.Guest, By: s.newest},
		{Route: "GET /clics/:version", For: site.Guest, By: s.information},
		{Route: "GET /clics/:version/webhooks", For: site.User, By: s.hooks},
		{Route: "POST /clics/:version/webhooks", For: site.User, By: s.addHook},
		{Route: "GET /clics/:version/webhooks/:id", For: site.User, By: s.hook},
		{Route: "DELETE /clics/:version/webhooks/:id", For: site.User, By: s.removeHook},
		{Route: "GET /clics/:version/contests", For: site.Guest, By: s.contests},
		{Route: "GET /clics/:version/contests/:round", For: site.Guest, By: s.one(clics.TypeContest)},
		{Route: "GET /clics/:version/contests/:round/state", For: site.Guest, By: s.one(clics.TypeState)},
		{Route: "GET /clics/:version/contests/:round/access", For: site.Guest, By: s.access},
		{Route: "GET /clics/:version/contests/:round/account", For: site.Guest, By: s.account},
		{Route: "GET /clics/:version/contests/:round/scoreboard", For: site.Guest, By: s.scoreboard},
		{Route: "GET /clics/:version/contests/:round/event-feed", For: site.Guest, By: s.eventFeed},
		{Route: "GET /clics/:version/contests/:round/:type", For: site.Guest, By: s.all},
		{Route: "GET /clics/:version/contests/:round/:type/:id", For: site.Guest, By: s.byID},
		{Route: "GET /clics/:version/contests/:round/submissions/:id/files", For: site.Guest, By: s.files},
		{Route: "GET /clics/:version/contests/:round/organizations/:id/:file", For: site.Guest, By: s.logo},
		{Route: "GET /clics/:version/contests/:round/problems/:id/:file", For: site.Guest, By: s.problemFile},
		{Route: "POST /clics/:version/contests/:round/submissions", For: site.Guest, By: s.submit},
		{Route: "PUT /clics/:version/contests/:round/submissions/:id", For: site.Guest, By: s.put},
		{Route: "PATCH /clics/:version/contests/:round", For: site.Guest, By: s.patch},
		{Route: "POST /clics/:version/contests/:round/clarifications", For: site.Guest, By: s.clarify},
		{Route: "PUT /clics/:version/contests/:round/clarifications/:id", For: site.Guest, By: s.clarify},
		{Route: "POST /clics/:version/contests/:round/commentary", For: site.Guest, By: s.comment},
		{Route: "POST /clics/:version/contests/:round/awards", For: site.Guest, By: s.award},
		{Route: "PUT /clics/:version/contests/:round/awards/:id", For: site.Guest, By: s.award},
		{Route: "PATCH /clics/:version/contests/:round/awards/:id", For: site.Guest, By: s.award},
		{Route: "DELETE /clics/:version/contests/:round/awards/:id", For: site.Guest, By: s.removeAward},
	}
}
