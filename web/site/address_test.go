package site_test

import (
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/site"
)

func nothing(*fiber.Ctx) error { return nil }

// The router takes the first address that fits, so a table in another order could
// hide one of its own addresses behind another.
func TestAWordGoesBeforeAParameterWhateverTheOrderOfTheTables(t *testing.T) {
	t.Parallel()
	routes := []string{
		"GET /a/:kind/:name", "GET /a/jobs/:id", "GET /a/jobs/new", "GET /a/:kind/new", "GET /a/*", "GET /a", "GET /:word", "GET /a/jobs/:id/*", "GET /a/jobs/:id/live",
	}
	asked := map[string]string{
		"/a/checker/x": "GET /a/:kind/:name", "/a/jobs/7": "GET /a/jobs/:id", "/a/jobs/new": "GET /a/jobs/new", "/a/checker/new": "GET /a/:kind/new", "/a/b/c/d": "GET /a/*",
		"/a": "GET /a", "/b": "GET /:word", "/a/jobs/7/live": "GET /a/jobs/:id/live", "/a/jobs/7/x/y": "GET /a/jobs/:id/*",
	}
	for range 50 {
		var table []site.Address
		for _, i := range rand.Perm(len(routes)) {
			table = append(table, site.Address{Route: routes[i], For: site.Guest, By: func(c *fiber.Ctx) error { return c.SendString(routes[i]) }})
		}
		arranged, err := site.Arrange(table)
		if err != nil {
			t.Fatal(err)
		}
		app := fiber.New()
		for _, a := range arranged {
			app.Add(a.Method(), a.Path(), a.By)
		}
		for path, want := range asked {
			resp, err := app.Test(httptest.NewRequest(fiber.MethodGet, path, nil))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 100)
			n, _ := resp.Body.Read(got)
			_ = resp.Body.Close()
			if string(got[:n]) != want {
				t.Fatalf("%s is answered by %s, want %s", path, got[:n], want)
			}
		}
	}
}

func TestATableThatCannotBeMeantIsAnError(t *testing.T) {
	t.Parallel()
	one := site.Address{Route: "GET /a/:id", For: site.Guest, By: nothing}
	with := func(change func(*site.Address)) site.Address {
		a := one
		a.Route = "POST /b"
		change(&a)
		return a
	}
	for want, a := range map[string]site.Address{
		"there are two":           {Route: "GET /a/:name", For: site.Staff, By: nothing},
		"want METHOD /path":       with(func(a *site.Address) { a.Route = "/b" }),
		`nobody is called "boss"`: with(func(a *site.Address) { a.For = "boss" }),
		`nobody is called ""`:     with(func(a *site.Address) { a.For = "" }),
		"nobody answers":          with(func(a *site.Address) { a.By = nil }),
		"nobody could confirm it": with(func(a *site.Address) { a.OrKey = true }),
		"uploads are of setters":  with(func(a *site.Address) { a.Upload = site.PluginUpload }),
		"by a whole path":         {Route: "POST /b/:name", For: site.Setter, Upload: site.PackageUpload, By: nothing},
	} {
		if _, err := site.Arrange([]site.Address{one, a}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), a.Route) {
			t.Errorf("%+v: %v, want %q", a, err, want)
		}
	}
	if _, err := site.Arrange([]site.Address{one, {Route: "POST /a/:name", For: site.Admin, Confirm: "do it", By: nothing}}); err != nil {
		t.Error(err)
	}
}
