package plugins

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
	"deepoj/web/site"
)

// Addresses are the addresses of plugins.
func (s *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "GET /checkers", For: site.Setter, By: s.pluginsPage},
		{Route: "POST /checkers", For: site.Setter, Upload: site.PluginUpload, By: s.uploadForm},
		{Route: "GET /checkers/jobs/:id", For: site.Setter, By: job.ShowJob(s.job, "pluginjob", s.jobPage)},
		{Route: "GET /checkers/jobs/:id/live", For: site.Setter, By: job.ShowLive(s.job, "pluginjob", s.jobPage)},
		{Route: "GET /checkers/jobs/:id/events", For: site.Setter, By: job.Follow(s.job, s.job.SetterJobFor)},
		{Route: "POST /checkers/jobs/:id/cancel", For: site.Setter, By: job.CancelForm(s.job, s.job.SetterJobFor)},
		{Route: "GET /checkers/:kind/:name", For: site.Setter, By: s.pluginPage},
		{Route: "POST /checkers/:kind/:name/activate", For: site.Setter, By: s.activateForm},
		{Route: "POST /checkers/:kind/:name/rollback", For: site.Setter, By: s.rollBackForm},
		{Route: "POST /checkers/:kind/:name/preview", For: site.Setter, By: s.pluginForm(judge.PluginPreview)},
		{Route: "POST /checkers/:kind/:name/bind", For: site.Setter, By: s.pluginForm(judge.PluginBind)},
		{Route: "POST /checkers/:kind/:name/test", For: site.Setter, By: s.pluginForm(judge.PluginTest)},

		{Route: "POST /api/v1/plugins", For: site.Setter, Upload: site.PluginUpload, Does: "Upload a plugin: a form with files, or a module", Query: "kind name version protocol problem", Media: "multipart/form-data", Status: 202, Out: site.Stored, By: s.apiUpload},
		{Route: "GET /api/v1/plugins", For: site.Setter, Does: "Uploaded plugins", Query: "kind name after limit", Out: fiber.Map{"plugins": []judge.Plugin{}, "next": (*string)(nil)}, By: s.apiPlugins},
		{Route: "POST /api/v1/plugins/rollback", For: site.Setter, Does: "Have a name mean what it meant before", In: fiber.Map{"kind": "", "name": ""}, Out: fiber.Map{"kind": "", "name": "", "digest": ""}, By: s.apiRollBack},
		{Route: "GET /api/v1/plugins/:digest", For: site.Setter, Does: "A plugin", Out: judge.Plugin{}, By: s.apiPlugin},
		{Route: "POST /api/v1/plugins/:digest/activate", For: site.Setter, Does: "Have a name mean this plugin", Out: judge.Plugin{}, By: s.apiActivate},
		{Route: "POST /api/v1/plugins/:digest/preview", For: site.Setter, Does: "Try a checker on past outputs", In: fiber.Map{"problem": "", "?limit": 0}, Status: 202, Out: site.Stored, By: s.apiPluginJob(judge.PluginPreview)},
		{Route: "POST /api/v1/plugins/:digest/bind", For: site.Setter, Does: "Use a checker for a problem", In: fiber.Map{"problem": ""}, Status: 202, Out: site.Stored, By: s.apiPluginJob(judge.PluginBind)},
		{Route: "POST /api/v1/plugins/:digest/test", For: site.Setter, Does: "Test a plugin again", In: fiber.Map{"?problem": ""}, Status: 202, Out: site.Stored, By: s.apiPluginJob(judge.PluginTest)},
	}
}
