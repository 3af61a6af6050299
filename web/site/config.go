package site

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/mail"
	"deepoj/host/reading"
	"deepoj/host/telemetry"
	"deepoj/sql"
	"deepoj/sql/rounds"
)

// Config says what a [Server] serves and to whom. Only Store and Rounds are required.
type Config struct {
	// Listen is the address to listen on, as HOST:PORT. Port 0 takes a free one:
	// see [Server.Addr]. Defaults to 127.0.0.1:8080.
	Listen string

	// Hosts are further values of the Host header that are answered, such as "judge.example.org" behind a reverse
	// proxy. Without them a server on a loopback address answers only to that address and localhost, and a server
	// on all addresses answers to any name.
	Hosts []string

	// CORSOrigins are the origins whose pages may use the API, with a key or a token and never by a cookie:
	// "https://ide.example.org", "https://*.example.org" for every name below, or "*" alone for all. Defaults to none.
	CORSOrigins []string

	// Judge0Open lets everybody who knows the token of a submission of a client of Judge0 read it.
	Judge0Open bool

	// Store holds everything that is shown. Required; not closed by the server.
	Store *sql.Site

	// Rounds holds contests and assignments. Required.
	Rounds *rounds.Store

	// Blobs takes the packages that setters upload. Without it they cannot.
	Blobs blob.Store

	// Reader reads what a changed package would be, for previews. Its zero value has the bounds of imports.
	Reader reading.Config

	// AuthRequired turns the guest off, who may submit without an account. It is always on unless Listen is a
	// loopback address, and also with Hosts, Proxies or OIDC unless AuthGuest says otherwise. A request that came
	// through a proxy is never the guest's.
	AuthRequired bool

	// AuthGuest keeps the guest on a loopback address also where people come from other machines.
	AuthGuest bool

	// Version of the program, shown in the page footer.
	Version string

	// Ready adds to what /readyz checks. It has at most 2 seconds. Defaults to
	// nothing: the database and its schema are always checked.
	Ready func(ctx context.Context) []Check

	// Registry gathers what is counted, and is what /metrics shows. Defaults to a registry of the server's own.
	Registry *prometheus.Registry

	// MetricsToken is what /metrics, and the details of /readyz, ask for as Authorization: Bearer. Without it only
	// clients on this machine see them that come through no proxy, and with MetricsElsewhere nobody does here.
	MetricsToken string

	// MetricsElsewhere says that another address serves them: see [Server.Ready].
	MetricsElsewhere bool

	// Tracer makes the spans of requests. Defaults to none.
	Tracer *telemetry.Tracer

	// Log receives a line per request and what cannot be returned. Defaults to discarding.
	Log *slog.Logger

	// MaxBody bounds a request's body, in bytes. Defaults to 4 MiB.
	MaxBody int

	// MaxPackage bounds an uploaded problem package, in bytes. It is streamed and
	// not held in memory. Defaults to 2 GiB.
	MaxPackage int64

	// SetterQuota is how many bytes the packages of a setter may take with files that nobody else's have, and how
	// many bytes of packages they may send on a day. Defaults to any number.
	SetterQuota int64

	// SetterVersions is how many versions of problems a setter may make on a day. Defaults to 50.
	SetterVersions int32

	// MaxStreams bounds the open event streams of this process, and MaxStreamsPerClient those of one address. They
	// default to 4096 and 1024 on a loopback address, where every client has the same one, else 64.
	MaxStreams, MaxStreamsPerClient int

	// RatePerAddress, RatePerUser and RatePerKey bound the requests of a minute that come from one address, user
	// and key; all of them may come at once. A negative one means no limit. Clients on this machine have no limit
	// by address, and neither static files nor what machines ask without an account count. They default to 6000,
	// 600 and 1200.
	RatePerAddress, RatePerUser, RatePerKey int

	// Proxies are reverse proxies whose X-Forwarded-For is believed. Without them
	// everybody behind a proxy has its address. Defaults to none.
	Proxies []netip.Prefix

	// WorkerAge is how long ago a live worker was seen at most. Defaults to 15 seconds.
	WorkerAge time.Duration

	// Live returns the workers that live. Defaults to asking the database for those of WorkerAge.
	Live func(ctx context.Context) ([]judge.WorkerInfo, error)

	// MaxRun is the most that a run may ask for. Zero fields default to 15 seconds of CPU time, 30 seconds on the
	// clock, 512 MiB, 4 MiB of output and 120 processes.
	MaxRun judge.RunLimits

	// CallbackAllow are private addresses that callbacks and webhooks may go to
	// besides public ones. Defaults to none.
	CallbackAllow []netip.Prefix

	// CallbackPatience is how long such an address may take to answer, at most half a
	// minute. Defaults to 10 seconds.
	CallbackPatience time.Duration

	// WebhookRetry says how long and how often messages to webhooks are sent again. Zero fields default to 12
	// tries, the first after 5 seconds, none later than 6 hours after the one before, and a patience of 3 days.
	WebhookRetry sql.Retrying

	// OIDC is where people may log in besides here. Defaults to nowhere.
	OIDC OIDC

	// Mail sends letters. Defaults to nothing: nobody is sent any.
	Mail *mail.Sender

	// PublicURL is what links in letters and invitations begin with: a browser's Host header never says it.
	PublicURL string

	// FeedStatus is where the change feed says how far it is, such as http://127.0.0.1:9182, for staff. Defaults to nowhere.
	FeedStatus string

	// Registration says who may make an account for themselves: nobody by default.
	Registration Registration

	// RegistrationDomains are those of the addresses whose owners may with [RegisterDomain].
	RegistrationDomains []string

	// SessionLife is how long a login lasts. Defaults to 30 days.
	SessionLife time.Duration

	// Grace is how long Run waits for open requests when it stops. Defaults to 5 seconds.
	Grace time.Duration
}

// Registration says who may make an account for themselves.
type Registration string

// Each lets in whom those before it let in, too.
const (
	RegisterOff        Registration = "off"
	RegisterInvitation Registration = "invitation" // who has a link that invites into a space
	RegisterDomain     Registration = "domain"     // who has an address of certain domains
	RegisterOpen       Registration = "open"       // who has an address
)

// Check is one thing that /readyz names.
type Check struct {
	Name     string `json:"name"` // such as "redis"
	OK       bool   `json:"ok"`
	Optional bool   `json:"optional,omitempty"` // whether the server is ready without it
	Detail   string `json:"detail,omitempty"`   // what is wrong, or what was found
	Remedy   string `json:"remedy,omitempty"`   // how to mend it
}

// Validate reports every field that is out of range.
func (c Config) Validate() error {
	var errs []error
	if c.Store == nil {
		errs = append(errs, errors.New("Store is missing"))
	}
	if c.Rounds == nil {
		errs = append(errs, errors.New("Rounds is missing"))
	}
	if c.Listen != "" {
		if _, _, err := net.SplitHostPort(c.Listen); err != nil {
			errs = append(errs, fmt.Errorf("Listen: %w", err))
		}
	}
	for name, n := range map[string]int{
		"MaxBody": c.MaxBody, "MaxPackage": int(c.MaxPackage), "SetterQuota": int(c.SetterQuota), "SetterVersions": int(c.SetterVersions), "MaxStreams": c.MaxStreams, "MaxStreamsPerClient": c.MaxStreamsPerClient,
		"WorkerAge": int(c.WorkerAge), "CallbackPatience": int(c.CallbackPatience), "SessionLife": int(c.SessionLife), "Grace": int(c.Grace),
	} {
		if n < 0 {
			errs = append(errs, fmt.Errorf("%s %d is negative", name, n))
		}
	}
	errs = append(errs, c.OIDC.validate())
	if c.Mail != nil && c.PublicURL == "" {
		errs = append(errs, errors.New("PublicURL is missing, which letters need"))
	}
	if byMail := c.Registration == RegisterDomain || c.Registration == RegisterOpen; byMail && c.Mail == nil {
		errs = append(errs, fmt.Errorf("Registration %s needs Mail", c.Registration))
	}
	if c.CallbackPatience > WebhookLease/2 {
		errs = append(errs, fmt.Errorf("CallbackPatience %s is longer than %s", c.CallbackPatience, WebhookLease/2))
	}
	return errors.Join(errs...)
}

// withDefaults fills what is zero.
func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:8080"
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	loopback := IsLoopback(c.Listen)
	if c.MaxBody == 0 {
		c.MaxBody = 4 << 20
	}
	if c.MaxPackage == 0 {
		c.MaxPackage = 2 << 30
	}
	if c.SetterVersions == 0 {
		c.SetterVersions = 50
	}
	if c.MaxStreams == 0 {
		c.MaxStreams = 4096
	}
	if c.MaxStreamsPerClient == 0 {
		c.MaxStreamsPerClient = 64
		if loopback {
			c.MaxStreamsPerClient = 1024
		}
	}
	for rate, otherwise := range map[*int]int{&c.RatePerAddress: 6000, &c.RatePerUser: 600, &c.RatePerKey: 1200} {
		if *rate == 0 {
			*rate = otherwise
		}
	}
	if c.WorkerAge == 0 {
		c.WorkerAge = 15 * time.Second
	}
	if c.Live == nil {
		c.Live = func(ctx context.Context) ([]judge.WorkerInfo, error) { return c.Store.Workers(ctx, c.WorkerAge) }
	}
	c.MaxRun = c.MaxRun.Or(judge.RunLimits{CPUMillis: 15_000, WallMillis: 30_000, MemoryKiB: 512 << 10, OutputKiB: 4 << 10, Processes: 120})
	if c.CallbackPatience == 0 {
		c.CallbackPatience = 10 * time.Second
	}
	c.WebhookRetry = c.WebhookRetry.Or(sql.Retrying{Tries: 12, Shortest: 5 * time.Second, Longest: 6 * time.Hour, Patience: 3 * 24 * time.Hour})
	if c.Registration == "" {
		c.Registration = RegisterOff
	}
	if c.SessionLife == 0 {
		c.SessionLife = 30 * 24 * time.Hour
	}
	if c.Grace == 0 {
		c.Grace = 5 * time.Second
	}
	return c
}

// IsLoopback reports whether only this machine can reach the address.
func IsLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Guests decides whether somebody without an account may use the site, and says why in a few words, for the log. A
// setting that only a site for other machines needs says that the loopback address is not what people come from.
func (c Config) Guests() (may bool, why string) {
	switch {
	case c.AuthRequired:
		return false, "accounts are required"
	case !IsLoopback(c.Listen):
		return false, "other machines reach the address"
	case c.AuthGuest:
		return true, "they were asked for"
	case len(c.Hosts) > 0:
		return false, "there are public host names"
	case len(c.Proxies) > 0:
		return false, "there are trusted proxies"
	case c.OIDC != OIDC{}:
		return false, "people log in at a provider of OpenID Connect"
	}
	return true, "only this machine reaches the address"
}

// OIDC is a provider of OpenID Connect where people may log in. The zero OIDC is none.
type OIDC struct {
	// Issuer is its address, as its own description has it. It is asked when somebody
	// logs in, so a server starts without it.
	Issuer string

	// ClientID and ClientSecret are what it knows this server by. Without a secret
	// PKCE alone protects the exchange of the code.
	ClientID, ClientSecret string

	// RedirectURL is where it sends browsers back to. Defaults to /login/oidc/callback
	// of the address that the browser uses.
	RedirectURL string
}

func (o OIDC) validate() error {
	u, err := url.Parse(o.Issuer)
	switch {
	case o == OIDC{}:
		return nil
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return fmt.Errorf("OIDC.Issuer %q is no http or https address", o.Issuer)
	case o.ClientID == "":
		return errors.New("OIDC.ClientID is missing")
	}
	if u, err = url.Parse(o.RedirectURL); o.RedirectURL != "" && (err != nil || u.Host == "" || u.Path != OIDCPath+"/callback") {
		return fmt.Errorf("OIDC.RedirectURL %q does not end in %s", o.RedirectURL, OIDCPath+"/callback")
	}
	return nil
}

// WebhookLease is how long a message is one server's to send: longer than any call.
const WebhookLease = time.Minute

// RequestTime is how long a request may take before its database calls end.
const RequestTime = 15 * time.Second

// PackageTime is how long a request may take that uploads a package.
const PackageTime = time.Hour

// UploadTime is how long a request may take that uploads a plugin.
const UploadTime = 2 * time.Minute

// MaxUpload bounds a request that uploads a plugin, in bytes: the largest module, and the form around it.
const MaxUpload = 24 << 20

// HangUp ends the connection after the answer, which still arrives.
func HangUp(c *fiber.Ctx) {
	c.Context().SetConnectionClose()
	if conn, ok := c.Context().Conn().(interface{ Linger() }); ok {
		conn.Linger()
	}
}

// WholeSeconds rounds up, so that nobody comes too early.
func WholeSeconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
