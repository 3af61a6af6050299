// Package web serves the pages and the HTTP API of Deep-OJ.
//
// It decides nothing about verdicts and executes nothing: it stores what people
// hand in through package sql and shows what the database says. Pages are
// rendered on the server and work without JavaScript; scripts only make them
// pleasant. What leaves this package has passed public.go, which takes away
// what contestants may not see.
//
// Traps of Fiber, for whoever writes a handler: the app runs with Immutable, so
// strings of a *fiber.Ctx may be kept, but its body may not; use
// c.UserContext(), which carries the deadline and the trace id, and never
// c.Context(), which is reused after the handler; a live stream notices a client
// that left only by a flush that fails.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/callback"
)

// Server serves pages and API on one address.
type Server struct {
	cfg         Config
	log         *slog.Logger
	store       *sql.Store
	app         *fiber.App
	ln          net.Listener
	hosts       hostPolicy
	views       *views
	assets      *assets
	catalog     *catalog
	depth       *keptTwice[int64]      // about how many jobs wait
	flow        *keptTwice[[]sql.Flow] // what came and went lately
	hub         *hub
	count       *counters
	guests      bool   // somebody without an account may use the site
	whyGuests   string // or why not
	logins      *throttle
	rates       struct{ address, user, key *limiter }
	caller      *callback.Caller
	provider    *provider // of OpenID Connect; nil = none
	description []byte    // of the API
	statistics  statistics
	previews    chan struct{} // a place in it is the right to make a preview
	hashing     chan struct{} // a place in it is the right to hash a password
}

// New listens on cfg.Listen, so that a taken port is an error here, and
// prepares everything that [Server.Run] serves.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	cfg = cfg.withDefaults()
	assets, err := loadAssets()
	if err != nil {
		return nil, fmt.Errorf("web: static files: %w", err)
	}
	views, err := loadViews(assets)
	if err != nil {
		return nil, fmt.Errorf("web: templates: %w", err)
	}
	count, err := newCounters(cfg.Registry)
	if err != nil {
		return nil, fmt.Errorf("web: metrics: %w", err)
	}
	description, err := describeAPI(cfg.Version)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	if !assets.hasEditor() {
		cfg.Log.Warn("the source editor is not built, so the submit page shows a plain text field: run `make build`")
	}
	ln, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	s := &Server{
		cfg: cfg, log: cfg.Log, store: cfg.Store, ln: patient{ln},
		hosts: newHostPolicy(cfg.Listen, ln.Addr(), cfg.Hosts),
		views: views, assets: assets, count: count,
		catalog:     newCatalog(cfg.Store, cfg.Live),
		depth:       keepTwice(cfg.Store, sql.Reader.Ready, depthAge),
		flow:        keepTwice(cfg.Store, sql.Reader.QueueFlow, flowAge),
		hub:         newHub(count, cfg.MaxStreams, cfg.MaxStreamsPerClient),
		caller:      callback.New(cfg.CallbackAllow, cfg.CallbackPatience),
		provider:    newProvider(cfg.OIDC),
		description: description,
		hashing:     make(chan struct{}, 2),
		previews:    make(chan struct{}, 2),
	}
	s.hub.events = s.seenEvents
	s.logins = newThrottle(time.Now, time.After, s.hub.done)
	s.guests, s.whyGuests = cfg.guests()
	s.rates.address, s.rates.user, s.rates.key = newLimiter(time.Now, cfg.RatePerAddress), newLimiter(time.Now, cfg.RatePerUser), newLimiter(time.Now, cfg.RatePerKey)
	s.app = fiber.New(fiber.Config{
		BodyLimit:                    cfg.MaxBody,
		CaseSensitive:                true,
		DisableStartupMessage:        true,
		DisablePreParseMultipartForm: true,
		ErrorHandler:                 s.fail,
		IdleTimeout:                  2 * time.Minute,
		Immutable:                    true,
		ReadBufferSize:               16 << 10,
		ReadTimeout:                  30 * time.Second,
		StreamRequestBody:            true, // bounded by receive
	})
	s.app.Server().HeaderReceived = s.sizeLimit
	s.routes()
	return s, nil
}

// Addr returns the address that the server listens on, as HOST:PORT.
func (s *Server) Addr() string { return s.ln.Addr().String() }

// Run serves until ctx is done, then ends open streams, waits for open requests
// and returns nil. It must be called exactly once.
func (s *Server) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := s.app.Listener(s.ln); err != nil && ctx.Err() == nil {
			return fmt.Errorf("web: serve %s: %w", s.Addr(), err)
		}
		return nil
	})
	g.Go(func() error {
		if err := s.store.Listen(ctx, sql.ChannelEvents, s.hub.wake); err != nil && ctx.Err() == nil {
			return fmt.Errorf("web: listen for events: %w", err)
		}
		return nil
	})
	g.Go(func() error { return s.runCallbacks(ctx) })
	g.Go(func() error { return s.runWebhooks(ctx) })
	g.Go(func() error {
		<-ctx.Done()
		s.hub.close()
		err := s.app.ShutdownWithTimeout(s.cfg.Grace)
		_ = s.ln.Close() // closed already, unless serving had not begun
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("web: stop: %w", err)
		}
		return nil
	})
	return g.Wait()
}

// routes is the site map.
func (s *Server) routes() {
	s.app.Use(s.observe, s.headers, s.receive)

	// What machines ask, without an account.
	s.app.Get("/healthz", s.healthz)
	s.app.Get("/readyz", s.readyz)
	s.app.Get("/metrics", s.metrics())
	s.app.Get("/static/*", s.static)
	s.app.Get("/favicon.ico", s.favicon)

	s.app.Use(s.guard, s.limitAddress, s.identify, s.limitViewer)
	s.app.Get("/login", s.loginPage)
	s.app.Post("/login", s.login)
	s.app.Get(oidcPath, s.beginOIDC)
	s.app.Get(oidcPath+"/callback", s.endOIDC)
	s.app.Post("/logout", s.logout)
	s.app.Post("/api/v1/sessions", s.apiLogin)
	s.app.Get("/api/errors", s.errorsPage)
	s.app.Get("/api/openapi.json", s.openapi)

	s.app.Use(s.admit)
	s.app.Get("/", s.problemsPage)
	s.app.Get("/problems/:slug", s.problemPage)
	s.app.Get("/problems/:slug/files/*", s.problemFile)
	s.app.Get("/problems/:slug/statistics", s.statisticsPage)
	s.app.Get("/problems/:slug/pictures/:name", s.pictures(s.liveVersion))
	s.app.Get("/problems/:slug/documents/:name", s.documents(s.liveVersion))
	s.app.Post("/problems/:slug", s.submitForm)
	s.app.Post("/problems/:slug/runs", s.runForm)
	s.app.Get("/runs/:id", s.runPage)
	s.app.Get("/runs/:id/live", s.runFragment)
	s.app.Get("/runs/:id/events", s.runEvents)
	s.app.Post("/runs/:id/cancel", s.cancelRunForm)
	s.app.Get("/submissions", s.submissionsPage)
	s.app.Get("/submissions/:id", s.submissionPage)
	s.app.Get("/submissions/:id/live", s.submissionFragment)
	s.app.Get("/submissions/:id/events", s.events)
	s.app.Post("/submissions/:id/cancel", s.cancelSubmissionForm)
	s.app.Post("/submissions/:id/rejudge", s.rejudgeForm)
	s.app.Get("/spaces", s.spacesPage)
	s.app.Post("/spaces", s.requireStaff, s.createSpaceForm)
	s.app.Get("/spaces/:space", s.spacePage)
	s.app.Get("/spaces/:space/submissions", s.spaceSubmissionsPage)
	s.app.Post("/spaces/:space/problems", s.putEntryForm)
	s.app.Get("/spaces/:space/print", s.printPage)
	s.app.Get("/spaces/:space/problems/:slug", s.problemPage)
	s.app.Get("/spaces/:space/problems/:slug/pictures/:name", s.pictures(s.liveVersion))
	s.app.Get("/spaces/:space/problems/:slug/documents/:name", s.documents(s.liveVersion))
	s.app.Post("/spaces/:space/problems/:slug", s.submitForm)
	s.app.Post("/spaces/:space/problems/:slug/runs", s.runForm)
	s.app.Post("/spaces/:space/problems/:slug/remove", s.removeEntryForm)
	s.app.Get("/spaces/:space/members", s.spaceMembersPage)
	s.app.Post("/spaces/:space/members", s.putMembersForm)
	s.app.Post("/spaces/:space/members/:name/remove", s.removeMemberForm)
	s.app.Get("/spaces/:space/settings", s.spaceSettingsPage)
	s.app.Post("/spaces/:space/settings", s.updateSpaceForm)
	s.app.Post("/spaces/:space/delete", s.confirmedByPeople(deletesSpace), s.deleteSpaceForm)
	s.app.Get("/queue", s.queuePage)
	s.app.Post("/queue/move", s.requireStaff, s.moveForm)
	s.app.Post("/languages/:id/withdraw", s.requireStaff, s.withdrawForm(true))
	s.app.Post("/languages/:id/offer", s.requireStaff, s.withdrawForm(false))
	s.app.Post("/queues/:name/pause", s.requireStaff, s.pauseForm(true))
	s.app.Post("/queues/:name/resume", s.requireStaff, s.pauseForm(false))
	s.app.Use("/dlq", s.requireStaff)
	s.app.Get("/dlq", s.lettersPage)
	s.app.Post("/dlq/replay", s.replayAllForm)
	s.app.Get("/dlq/:id", s.letterPage)
	s.app.Post("/dlq/:id/replay", s.replayForm)
	s.app.Post("/dlq/:id/discard", s.confirmedByPeople(discards), s.discardForm)
	s.app.Use("/rejudgings", s.requireStaff)
	s.app.Get("/rejudgings", s.rejudgingsPage)
	s.app.Post("/rejudgings", s.startRejudgeForm)
	s.app.Get("/rejudgings/:id", s.rejudgingPage)
	s.app.Post("/rejudgings/:id/apply", s.resolveRejudgeForm(true))
	s.app.Post("/rejudgings/:id/cancel", s.resolveRejudgeForm(false))
	s.app.Get("/languages", s.languagesPage)
	s.app.Get("/account", s.accountPage)
	s.app.Post("/account", s.requireLogin, s.changePasswordForm)
	s.app.Post("/account/keys", s.requireLogin, s.confirmed(makesKey), s.createKeyForm)
	s.app.Post("/account/keys/:id/revoke", s.requireLogin, s.revokeKeyForm)
	s.webhookPages(s.app.Group("/webhooks", s.requireLogin))
	s.app.Get("/workers", s.requireStaff, s.workersPage)
	s.app.Get("/audit", s.requireAdmin, s.auditPage)
	s.app.Use("/users", s.requireAdmin)
	s.app.Get("/users", s.usersPage)
	s.app.Post("/users", s.createUsersForm)
	s.app.Get("/users/:name", s.userPage)
	s.app.Post("/users/:name/role", s.confirmed(changesRole), s.userForm(func(c *fiber.Ctx) error { return s.setRole(c, sql.Role(c.FormValue("role"))) }))
	s.app.Post("/users/:name/disable", s.confirmed(disables), s.userForm(func(c *fiber.Ctx) error { return s.disable(c, true) }))
	s.app.Post("/users/:name/enable", s.confirmed(enables), s.userForm(func(c *fiber.Ctx) error { return s.disable(c, false) }))
	s.app.Post("/users/:name/password", s.confirmed(resets), s.resetForm)
	s.app.Post("/users/:name/keys/:id/revoke", s.confirmed(revokes), s.revokeUserKeyForm)

	s.app.Use("/packages", s.settersOnly("packages"))
	s.app.Get("/packages", s.packagesPage)
	s.app.Post("/packages", s.packageForm)
	s.app.Post("/packages/template", s.templateForm)
	s.app.Get("/packages/:slug", s.packagePage)
	s.app.Get("/packages/:slug/try", s.tryPage)
	s.app.Post("/packages/:slug/try", s.tryForm)
	s.app.Get("/packages/:slug/drafts/:id", s.draftPage)
	s.app.Get("/packages/:slug/drafts/:id/live", s.draftFragment)
	s.app.Get("/packages/:slug/drafts/:id/events", s.draftEvents)
	s.app.Post("/packages/:slug/drafts/:id/cancel", s.cancelDraftForm)
	s.app.Get("/packages/:slug/edit", s.editPage)
	s.app.Post("/packages/:slug/edit", s.editForm)
	s.app.Get("/packages/:slug/compare", s.comparePage)
	s.app.Post("/packages/:slug/clone", s.cloneForm)
	s.app.Post("/packages/:slug/labels", s.labelsForm)
	s.app.Get("/packages/:slug/package", s.export)
	s.app.Get("/packages/:slug/versions/:version", s.previewPage)
	s.app.Get("/packages/:slug/versions/:version/pictures/:name", s.pictures(s.keptVersion))
	s.app.Get("/packages/:slug/versions/:version/documents/:name", s.documents(s.keptVersion))
	s.app.Get("/packages/:slug/versions/:version/files/*", s.versionFile)
	s.app.Post("/packages/:slug/render", s.renderForm)
	s.app.Post("/packages/:slug/activate", s.liveForm)
	s.app.Post("/packages/:slug/rollback", s.backForm)
	s.app.Post("/packages/:slug/verify", s.proveForm)
	s.app.Post("/packages/:slug/hide", s.hideForm(true))
	s.app.Post("/packages/:slug/show", s.hideForm(false))
	s.app.Post("/packages/:slug/people", s.personForm)
	s.app.Post("/packages/:slug/people/:name/remove", s.goneForm)
	s.app.Post("/packages/:slug/checker-messages", s.messagesForm)
	s.app.Use("/imports", s.settersOnly("packages"))
	s.app.Get("/imports/:id", s.importPage)
	s.app.Get("/imports/:id/live", s.importFragment)
	s.app.Get("/imports/:id/events", s.jobEvents)
	s.app.Post("/imports/:id/cancel", s.cancelJobForm(importURL))

	s.app.Use("/checkers", s.settersOnly("checkers"))
	s.app.Get("/checkers", s.checkersPage)
	s.app.Post("/checkers", s.uploadForm)
	s.app.Get("/checkers/jobs/:id", s.pluginJobPage)
	s.app.Get("/checkers/jobs/:id/live", s.pluginJobFragment)
	s.app.Get("/checkers/jobs/:id/events", s.jobEvents)
	s.app.Post("/checkers/jobs/:id/cancel", s.cancelJobForm(jobURL))
	s.app.Get("/checkers/:kind/:name", s.checkerPage)
	s.app.Post("/checkers/:kind/:name/activate", s.activateForm)
	s.app.Post("/checkers/:kind/:name/rollback", s.rollBackForm)
	s.app.Post("/checkers/:kind/:name/preview", s.pluginForm(judge.PluginPreview))
	s.app.Post("/checkers/:kind/:name/bind", s.pluginForm(judge.PluginBind))
	s.app.Post("/checkers/:kind/:name/test", s.pluginForm(judge.PluginTest))

	// The original contract.
	s.app.Post("/submit", s.apiSubmitOriginal)
	s.app.Get("/status/:id", s.apiStatusOriginal)

	s.judge0Routes(s.app.Group(judge0Path))

	v1 := s.app.Group("/api/v1")
	v1.Delete("/sessions", s.apiLogout)
	v1.Get("/account", s.apiAccount)
	v1.Post("/account/password", s.requireLogin, s.apiChangePassword)
	v1.Post("/account/confirm", s.requireLogin, s.apiConfirm)
	v1.Use("/keys", s.requireLogin)
	v1.Get("/keys", s.apiKeys)
	v1.Post("/keys", s.confirmed(makesKey), s.apiCreateKey)
	v1.Delete("/keys/:id", s.apiRevokeKey)
	s.webhookRoutes(v1.Group("/webhooks", s.requireLogin))
	v1.Get("/audit", s.requireAdmin, s.apiAudit)
	v1.Use("/users", s.requireAdmin)
	v1.Get("/users", s.apiUsers)
	v1.Post("/users", s.apiCreateUser)
	v1.Get("/users/:name", s.apiUser)
	v1.Post("/users/:name/role", s.confirmed(changesRole), s.apiSetRole)
	v1.Post("/users/:name/disable", s.confirmed(disables), s.apiDisable(true))
	v1.Post("/users/:name/enable", s.confirmed(enables), s.apiDisable(false))
	v1.Post("/users/:name/password", s.confirmed(resets), s.apiResetPassword)
	v1.Get("/users/:name/keys", s.apiUserKeys)
	v1.Delete("/users/:name/keys/:id", s.confirmed(revokes), s.apiRevokeUserKey)
	v1.Post("/submissions", s.apiSubmit)
	v1.Get("/submissions", s.apiSubmissions)
	v1.Post("/submissions/batch", s.apiSubmitBatch)
	v1.Get("/submissions/batch", s.apiSubmissionBatch)
	v1.Get("/submissions/:id", s.apiSubmission)
	v1.Get("/submissions/:id/events", s.events)
	v1.Post("/submissions/:id/cancel", s.apiCancelSubmission)
	v1.Post("/submissions/:id/rejudge", s.apiRejudge)
	for _, verb := range moveVerbs {
		v1.Post("/submissions/:id/"+verb, s.apiMove(verb))
	}
	v1.Post("/runs", s.apiRun)
	v1.Get("/runs/:id", s.apiRunStatus)
	v1.Get("/runs/:id/events", s.runEvents)
	v1.Post("/runs/:id/cancel", s.apiCancelRun)
	v1.Get("/problems", s.apiProblems)
	v1.Post("/problems", s.settersOnly("packages"), s.apiImport)
	v1.Post("/renderings", s.settersOnly("packages"), s.apiRender)
	v1.Get("/problems/:slug", s.apiProblem)
	v1.Get("/problems/:slug/statistics", s.apiStatistics)
	v1.Get("/problems/:slug/labels", s.settersOnly("packages"), s.apiLabels)
	v1.Post("/problems/:slug/labels", s.settersOnly("packages"), s.apiSetLabels)
	v1.Get("/problems/:slug/diff", s.settersOnly("packages"), s.apiDiff)
	v1.Post("/problems/:slug/clone", s.settersOnly("packages"), s.apiClone)
	v1.Get("/problems/:slug/drafts", s.settersOnly("packages"), s.apiDrafts)
	v1.Get("/problems/:slug/drafts/:id", s.settersOnly("packages"), s.apiDraft)
	v1.Get("/problems/:slug/drafts/:id/events", s.settersOnly("packages"), s.draftEvents)
	v1.Post("/problems/:slug/drafts/:id/cancel", s.settersOnly("packages"), s.apiCancelDraft)
	v1.Get("/problems/:slug/versions/:version/problem", s.settersOnly("packages"), s.apiVersionProblem)
	v1.Get("/problems/:slug/versions/:version/files", s.settersOnly("packages"), s.apiVersionFiles)
	v1.Get("/problems/:slug/versions/:version/file", s.settersOnly("packages"), s.apiVersionFile)
	v1.Post("/problems/:slug/versions/:version/edit", s.settersOnly("packages"), s.apiEdit)
	v1.Post("/problems/:slug/versions/:version/preview", s.settersOnly("packages"), s.apiPreview)
	v1.Post("/problems/:slug/versions/:version/submissions", s.settersOnly("packages"), s.apiSubmitDraft)
	v1.Get("/templates", s.settersOnly("packages"), s.apiTemplates)
	v1.Post("/templates/:name", s.settersOnly("packages"), s.apiFromTemplate)
	v1.Post("/problems/:slug/rollback", s.settersOnly("packages"), s.apiGoBack)
	v1.Get("/problems/:slug/package", s.settersOnly("packages"), s.export)
	v1.Get("/problems/:slug/versions", s.settersOnly("packages"), s.apiVersions)
	v1.Get("/problems/:slug/versions/:version", s.settersOnly("packages"), s.apiVersion)
	v1.Get("/problems/:slug/versions/:version/statement", s.settersOnly("packages"), s.apiStatement)
	v1.Post("/problems/:slug/versions/:version/activate", s.settersOnly("packages"), s.apiGoLive)
	v1.Post("/problems/:slug/versions/:version/verify", s.settersOnly("packages"), s.apiProve)
	v1.Post("/problems/:slug/hide", s.settersOnly("packages"), s.apiHide(true))
	v1.Post("/problems/:slug/show", s.settersOnly("packages"), s.apiHide(false))
	v1.Get("/problems/:slug/people", s.settersOnly("packages"), s.apiPeople)
	v1.Post("/problems/:slug/people", s.settersOnly("packages"), s.apiAddPerson)
	v1.Delete("/problems/:slug/people/:name", s.settersOnly("packages"), s.apiRemovePerson)
	v1.Get("/quota", s.settersOnly("packages"), s.apiQuota)
	v1.Get("/problems/:slug/checker-messages", s.settersOnly("packages"), s.apiMessages)
	v1.Post("/problems/:slug/checker-messages", s.settersOnly("packages"), s.apiSetMessages)
	v1.Get("/spaces", s.apiSpaces)
	v1.Post("/spaces", s.requireStaff, s.apiCreateSpace)
	v1.Get("/spaces/:space", s.apiSpace)
	v1.Patch("/spaces/:space", s.apiUpdateSpace)
	v1.Delete("/spaces/:space", s.confirmedByPeople(deletesSpace), s.apiDeleteSpace)
	v1.Get("/spaces/:space/members", s.apiSpaceMembers)
	v1.Post("/spaces/:space/members", s.apiPutSpaceMembers)
	v1.Delete("/spaces/:space/members/:name", s.apiRemoveSpaceMember)
	v1.Get("/spaces/:space/problems", s.apiSpaceProblems)
	v1.Post("/spaces/:space/problems", s.apiPutSpaceProblem)
	v1.Get("/spaces/:space/problems/:slug", s.apiProblem)
	v1.Delete("/spaces/:space/problems/:slug", s.apiRemoveSpaceProblem)
	v1.Get("/spaces/:space/scores", s.apiSpaceScores)
	v1.Get("/spaces/:space/submissions", s.apiSpaceSubmissions)
	v1.Get("/languages", s.apiLanguages)
	v1.Post("/languages/:id/withdraw", s.requireStaff, s.apiWithdraw(true))
	v1.Post("/languages/:id/offer", s.requireStaff, s.apiWithdraw(false))
	v1.Get("/workers", s.apiWorkers)
	v1.Get("/queue", s.apiQueue)
	v1.Use("/queues", s.requireStaff)
	v1.Get("/queues", s.apiQueues)
	v1.Post("/queues/:name/pause", s.apiPause(true))
	v1.Post("/queues/:name/resume", s.apiPause(false))
	v1.Use("/dlq", s.requireStaff)
	v1.Get("/dlq", s.apiLetters)
	v1.Post("/dlq/replay", s.apiReplayAll)
	v1.Get("/dlq/:id", s.apiLetter)
	v1.Post("/dlq/:id/replay", s.apiReplay)
	v1.Post("/dlq/:id/discard", s.confirmedByPeople(discards), s.apiDiscard)
	v1.Use("/rejudgings", s.requireStaff)
	v1.Get("/rejudgings", s.apiRejudgings)
	v1.Post("/rejudgings", s.apiStartRejudge)
	v1.Get("/rejudgings/:id", s.apiRejudging)
	v1.Post("/rejudgings/:id/apply", s.apiResolveRejudge(true))
	v1.Post("/rejudgings/:id/cancel", s.apiResolveRejudge(false))
	v1.Get("/jobs/:id", s.apiJob)
	v1.Get("/jobs/:id/events", s.jobEvents)
	v1.Post("/jobs/:id/cancel", s.apiCancelJob)
	v1.Use("/plugins", s.settersOnly("checkers"))
	v1.Post("/plugins", s.apiUpload)
	v1.Get("/plugins", s.apiPlugins)
	v1.Post("/plugins/rollback", s.apiRollBack)
	v1.Get("/plugins/:digest", s.apiPlugin)
	v1.Post("/plugins/:digest/activate", s.apiActivate)
	v1.Post("/plugins/:digest/preview", s.apiPluginJob(judge.PluginPreview))
	v1.Post("/plugins/:digest/bind", s.apiPluginJob(judge.PluginBind))
	v1.Post("/plugins/:digest/test", s.apiPluginJob(judge.PluginTest))
}
