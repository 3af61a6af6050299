package roles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/host/launch"
	"deepoj/host/mail"
	"deepoj/host/people"
	"deepoj/host/settings"
	"deepoj/host/worker"
	"deepoj/web"
)

// newWeb makes the web side and returns what says that the process is ready. The
// judges are nil where this process has none.
func newWeb(ctx context.Context, b *base, p *process, j *judges) (func(context.Context) (bool, any), error) {
	o := b.Options
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: want HOST:PORT, such as 127.0.0.1:8080", o.Listen)
	}
	ip := net.ParseIP(host)
	if loopback := host == "localhost" || ip != nil && ip.IsLoopback(); o.AllowDegraded && !loopback {
		return nil, errors.New("--allow-degraded is refused on an address that others can reach")
	}
	first, err := firstAdmin(ctx, b)
	if err != nil {
		return nil, err
	}
	sender, err := mailSender(b.Mail, b.PublicURL)
	if err != nil {
		return nil, err
	}
	s, err := web.New(web.Config{
		Mail: sender, PublicURL: b.PublicURL, Registration: web.Registration(b.Registration), RegistrationDomains: b.RegistrationDomains,
		MetricsToken: b.MetricsToken, MetricsElsewhere: b.MetricsListen != "", OIDC: web.OIDC(b.OIDC),
		FeedStatus: b.FeedStatusURL, CORSOrigins: b.CORSOrigins, Judge0Open: b.Judge0Tokens == "open",
		CallbackAllow: b.CallbackAllow, Proxies: b.TrustedProxies,
		RatePerAddress: rate(b.RatePerAddress), RatePerUser: rate(b.RatePerUser), RatePerKey: rate(b.RatePerKey),
		SetterQuota: b.SetterQuotaMiB << 20,
		Listen:      o.Listen, Store: b.db.Site, Rounds: b.db.Rounds, AuthRequired: o.Auth == "required" || o.Auth == "" && !b.Roles.Embedded, AuthGuest: o.Auth == "guest",
		Hosts: publicHosts(b.PublicHosts, b.PublicURL), Version: b.Version, Ready: func(ctx context.Context) []web.Check { return checks(ctx, b, j) },
		Registry: b.reg, Live: b.live(), Blobs: b.blobs, Tracer: b.tracer, Log: b.log,
	})
	if err != nil {
		return nil, err
	}
	p.add("web", s.Run)
	guests, why := s.Guests()
	if guests {
		b.log.InfoContext(ctx, "guests are on: who reaches this address, also through a proxy that adds no header, may submit without an account, and read what guests submitted; "+
			"--auth required turns them off", slog.String("address", s.Addr()), slog.String("why", why))
	} else {
		b.log.InfoContext(ctx, "guests are off", slog.String("why", why))
	}
	if b.Roles.Embedded {
		if err := publish(ctx, b, p, "http://"+s.Addr(), guests); err != nil {
			return nil, err
		}
	}
	p.add("readiness", func(ctx context.Context) error { tellReady(ctx, b, j, "http://"+s.Addr(), first); return nil })
	return s.Ready, nil
}

// publicHosts are the names that the web side answers to besides its own: that of its public address is one.
func publicHosts(hosts []string, address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || slices.Contains(hosts, u.Hostname()) {
		return hosts
	}
	return append(slices.Clone(hosts), u.Hostname())
}

// mailSender sends letters by the server that the settings name; it is nil if they name none.
func mailSender(m settings.Mail, public string) (*mail.Sender, error) {
	if m.Address == "" {
		return nil, nil // no sender is the answer, not a failure
	}
	if m.From == "" || public == "" {
		return nil, fmt.Errorf("SMTP_ADDR=%s: letters need SMTP_FROM and PUBLIC_URL, too", m.Address)
	}
	certificates, err := settings.Authorities("SMTP_TLS_CA", m.CA)
	if err != nil {
		return nil, err
	}
	return mail.New(mail.Server{
		Address: m.Address, Security: m.Security, Username: m.Username, Password: m.Password, From: m.From, Certificates: certificates,
	})
}

// rate is a number of requests a minute as the web side wants it; 0 means no limit.
func rate(limit int) int {
	if limit > 0 {
		return limit
	}
	return -1
}

// publish imports the sample problems, and writes where the parts of this process are for commands.
func publish(ctx context.Context, b *base, p *process, url string, guests bool) error {
	if err := importSamples(ctx, b); err != nil {
		return err
	}
	i := launch.Instance{
		PID: os.Getpid(), URL: url, Guests: guests, DSN: b.dsn, Feed: b.feedURL, Redis: b.redisURL, Data: b.Options.Data, Version: b.Version, Started: time.Now().UTC(),
		MetricsToken: b.MetricsToken,
	}
	if b.figures != nil {
		i.Metrics = "http://" + b.figures.Addr().String()
	}
	if err := i.Write(b.Options.Data); err != nil {
		return err
	}
	p.closing(func() { _ = os.Remove(filepath.Join(b.Options.Data, launch.InstanceFile)) })
	return nil
}

// firstAdmin makes the first account where there is none, and returns what is to be told of it, "" if nothing is.
func firstAdmin(ctx context.Context, b *base) (told string, err error) {
	file, given := passwordFileOf(b.Config), ""
	if file != nil {
		if given, err = file.read(); err != nil {
			return "", err
		}
	}
	password, err := people.FirstAdmin(ctx, b.db.Site, given)
	if err != nil || password == "" {
		return "", err
	}
	told = fmt.Sprintf(firstAccount, password)
	if file != nil {
		err := file.write(password)
		if err == nil {
			return "The first account is admin, and its password is in the file of --admin-password-file.\n", nil
		}
		b.log.WarnContext(ctx, "the first password cannot be written, and is printed instead", slog.Any("err", err))
	}
	return told, nil
}

// tellReady tells people that jobs are taken, and in a block of its own of the first account.
func tellReady(ctx context.Context, b *base, j *judges, url, first string) {
	if b.Roles.Embedded {
		awaitWorker(ctx, b, j)
		if ctx.Err() == nil {
			fmt.Fprintf(b.Out, "Deep-OJ is ready: %s\n", url)
		}
	} else {
		b.log.InfoContext(ctx, "listening", slog.String("url", url))
	}
	if first != "" { // also where it ends before it is ready: nobody could read it again
		fmt.Fprintf(b.Out, "\n    %s    It is for one login, which asks for another: %s/login\n\n", first, url)
	}
}

// awaitWorker waits until this process's own worker takes jobs and the database
// knows its languages, so that "ready" means that a submit is taken and judged.
func awaitWorker(ctx context.Context, b *base, j *judges) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if own, ok := ownWorker(ctx, b, j); ok {
			var missing []string
			for _, l := range own.Languages {
				if !l.Available {
					missing = append(missing, l.Name+" ("+l.Unavailable+")")
				}
			}
			if len(missing) > 0 {
				fmt.Fprintf(b.Out, "Not available: %s.\n", strings.Join(missing, "; "))
			}
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ownWorker returns what the worker of this process says of itself, once it takes jobs and everybody can know.
func ownWorker(ctx context.Context, b *base, j *judges) (own judge.WorkerInfo, ok bool) {
	if j.worker.Unable() != nil || !j.worker.Offered() {
		return own, false
	}
	workers, err := b.directory.Workers(ctx)
	if err != nil {
		return own, false
	}
	at := slices.IndexFunc(workers, func(w judge.WorkerInfo) bool { return w.Name == j.worker.Owner() && w.Slots > 0 })
	if at < 0 {
		return own, false
	}
	return workers[at], true
}

// checks are what /readyz names beyond the database and the workers.
func checks(ctx context.Context, b *base, j *judges) []web.Check {
	var cs []web.Check
	if b.streams != nil {
		c := web.Check{Name: "redis", OK: true, Optional: b.Delivery == "auto"}
		if err := b.streams.Ping(ctx); err != nil {
			c.OK, c.Detail, c.Remedy = false, err.Error(), "jobs travel through PostgreSQL until Redis answers again; "+redisService.remedy(err)
		}
		cs = append(cs, c)
	}
	if b.etcd != nil {
		c := web.Check{Name: "etcd", OK: true, Optional: true}
		if err := b.etcd.Ping(ctx); err != nil {
			c.OK, c.Detail, c.Remedy = false, err.Error(), "PostgreSQL says which workers live until etcd answers again; "+etcdService.remedy(err)
		}
		cs = append(cs, c)
	}
	if s, ok := b.blobs.(pinger); ok {
		cs = append(cs, checkBlobs(ctx, s))
	}
	if j != nil {
		cs = append(cs, j.checkWorker(), j.checkSandbox(b.Agent))
	}
	return cs
}

// checkWorker says for /readyz whether the worker of this process takes jobs. It
// looks by itself whether what it lacks is back.
func (j *judges) checkWorker() web.Check {
	c := web.Check{Name: "worker", OK: true, Detail: "jobs are taken"}
	unable := j.worker.Unable()
	if unable == nil && !j.worker.Offered() {
		unable = errors.New("its languages are not known yet")
	}
	if unable == nil {
		return c
	}
	c.OK, c.Detail, c.Remedy = false, "No jobs are taken: "+unable.Error(), "See the log."
	if lack, ok := errors.AsType[*worker.UnfitError](unable); ok {
		c.Remedy = NeedRemedies[lack.Need]
	}
	return c
}

// checkSandbox says for /readyz how programs are run. Pages are served anyway.
func (j *judges) checkSandbox(agent string) web.Check {
	c := web.Check{Name: "sandbox", Optional: true}
	why := j.boxes.Agent()
	lack, unfit := errors.AsType[*worker.UnfitError](j.worker.Unable())
	switch {
	case unfit && lack.Need == worker.NeedSandbox:
		c.Detail, c.Remedy = "No jobs are taken: "+lack.Err.Error(), NeedRemedies[worker.NeedSandbox]
	case why == nil:
		c.OK, c.Detail = true, "the agent runs programs"
	case agent == agentOff:
		c.OK, c.Detail = true, "the one-shot command runs programs: "+why.Error()
	default:
		c.Detail = "The one-shot command runs programs, which takes longer, because the agent does not: " + why.Error()
		c.Remedy = "See the log; the agent is started again by itself."
	}
	return c
}

// checkBlobs says for /readyz whether a bucket can be reached. Submissions are taken without it.
func checkBlobs(ctx context.Context, s pinger) web.Check {
	c := web.Check{Name: "object store", OK: true, Optional: true}
	if err := s.Ping(ctx); err != nil {
		c.OK, c.Detail, c.Remedy = false, err.Error(), S3Remedy
	}
	return c
}
