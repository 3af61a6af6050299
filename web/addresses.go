package web

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/site"
)

// addresses is the table of all addresses. The router, the rights and the description of the API are made of it.
func (s *Server) addresses() []site.Address {
	return slices.Concat(s.ownAddresses(), s.people.Addresses(), s.people.Factors.Addresses(), s.job.Addresses(), s.solve.Addresses(), s.spaces.Addresses(), s.rounds.Addresses(), s.archive.Addresses(), s.clics.Addresses(),
		s.setters.Addresses(), s.plugins.Addresses(), s.drafts.Addresses(), s.staff.Addresses(), s.judge0.Addresses())
}

// ownAddresses are those of what machines ask, of our files, and of what describes the API.
func (s *Server) ownAddresses() []site.Address {
	return []site.Address{
		{Route: "GET /healthz", For: site.Machine, By: s.healthz},
		{Route: "GET /readyz", For: site.Machine, By: s.readyz},
		{Route: "GET /metrics", For: site.Machine, By: s.metrics()},
		{Route: "GET /static/*", For: site.Machine, By: s.Static},
		{Route: "GET /favicon.ico", For: site.Machine, By: s.Favicon},
		{Route: "GET /api/errors", For: site.Anyone, By: s.errorsPage},
		{Route: "GET /api/openapi.json", For: site.Anyone, Kept: true, Does: "This description", Out: fiber.Map{"openapi": "", "info": nil, "servers": nil, "paths": nil, "webhooks": nil, "components": nil}, By: s.openapi},
	}
}

// routes makes the router and the description of the API. Pages of other origins lose their cookies before anything is
// looked at. What machines ask comes before all checks. Then whose page made a browser ask is checked, how many requests came from its address, who asks, and how many requests those made;
// what anyone may use follows, and the rest is for whom the site lets in.
func (s *Server) routes() error {
	all := s.addresses()
	description, err := describeAPI(s.Config.Version, all, false)
	if err != nil {
		return err
	}
	s.description = description
	arranged, err := site.Arrange(all)
	if err != nil {
		return err
	}
	s.uploads = map[string]site.Upload{}
	for _, a := range arranged {
		if a.Upload != 0 {
			s.uploads[a.Route] = a.Upload
		}
	}
	route := func(wanted func(site.Right) bool) {
		for _, a := range arranged {
			if !wanted(a.For) {
				continue
			}
			handlers := append(s.gates(a), a.By)
			if a.Method() == fiber.MethodGet {
				s.app.Get(a.Path(), handlers...) // answers to HEAD as well
			} else {
				s.app.Add(a.Method(), a.Path(), handlers...)
			}
		}
	}
	s.app.Use(colons, s.observe, s.headers, s.crossOrigin, s.receive)
	route(func(r site.Right) bool { return r == site.Machine })
	s.app.Use(s.guard, s.limitAddress, s.identify, s.limitViewer)
	route(func(r site.Right) bool { return r == site.Anyone })
	s.app.Use(s.admit)
	route(func(r site.Right) bool { return r != site.Machine && r != site.Anyone })
	return nil
}

// gates are the checks before an address answers: of the right, then of the proof that is asked for, and of what is
// asked.
func (s *Server) gates(a site.Address) []fiber.Handler {
	var out []fiber.Handler
	if check := map[site.Right]fiber.Handler{
		site.User: site.Gate(site.AccountOnly), site.Login: site.Gate(site.LoginOnly), site.Setter: site.Gate(site.SettersOnly), site.Staff: site.Gate(site.StaffOnly), site.Admin: site.Gate(site.AdminsOnly),
	}[a.For]; a.Gate != nil {
		out = append(out, a.Gate)
	} else if check != nil {
		out = append(out, check)
	}
	if a.Asks != "" {
		out = append(out, s.sure(a.Asks))
	}
	switch {
	case a.OrKey:
		out = append(out, s.people.ConfirmedByPeople(a.Confirm))
	case a.Confirm != "":
		out = append(out, s.people.Confirmed(a.Confirm))
	}
	if strings.HasPrefix(a.Path(), "/api/v1/") {
		out = append(out, knownOnly(a.Query))
	}
	if a.Kept {
		out = append(out, keep)
	}
	return out
}
