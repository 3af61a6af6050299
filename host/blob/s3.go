package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"golang.org/x/sync/singleflight"
)

// S3 is a Store in a bucket of an S3 service, as AB/ABCDEF… by the digits of the digest. What this machine stored or
// read is kept in a folder of bounded size, and is read from there while the service is away. It is safe for several
// processes to share the folder.
type S3 struct {
	client  service
	bucket  string
	silence time.Duration // how long the service may be silent
	near    *cache
	flights singleflight.Group
	damaged sync.Map // digests whose objects are known to be damaged
}

var _ Store = (*S3)(nil)

// S3Config says where a bucket is.
type S3Config struct {
	Endpoint  string // host:port, without a scheme
	Bucket    string // must exist
	Region    string // as the service names it; some need none
	AccessKey string
	SecretKey string
	UseTLS    bool

	CacheDir   string // folder of this machine
	CacheBytes int64  // its bound; what was used in the last minute stays all the same

	// Patience is how long the service may be silent until it counts as away. Defaults to DefaultPatience.
	Patience time.Duration

	// Transport replaces the usual one, to trust a certificate.
	Transport http.RoundTripper
}

// OpenS3 returns the store. It does not ask the service, which may be away: see [S3.Ping].
func OpenS3(cfg S3Config) (*S3, error) {
	if strings.Contains(cfg.Endpoint, "/") {
		return nil, fmt.Errorf("S3 endpoint %q: must be host or host:port, without a scheme or path", cfg.Endpoint)
	}
	if cfg.Bucket == "" {
		return nil, errors.New("S3: no bucket is named")
	}
	client, err := minio.New(cfg.Endpoint, &minio.Options{
		Creds:  credentials.NewStaticV4(cfg.AccessKey, cfg.SecretKey, ""),
		Secure: cfg.UseTLS, Region: cfg.Region, Transport: cfg.Transport, MaxRetries: retries,
	})
	if err != nil {
		return nil, fmt.Errorf("S3 endpoint %q: %w", cfg.Endpoint, err)
	}
	near, err := openCache(cfg.CacheDir, cfg.CacheBytes)
	if err != nil {
		return nil, err
	}
	near.dir.SetPatience(cmp.Or(cfg.Patience, DefaultPatience))
	return &S3{client: newService(client, cfg.Bucket), bucket: cfg.Bucket, silence: cmp.Or(cfg.Patience, DefaultPatience), near: near}, nil
}

// Probe implements Store: it asks the bucket, and looks at what is near.
func (s *S3) Probe(ctx context.Context) error {
	err := probe(ctx, func(ctx context.Context, g Digest) (io.ReadCloser, error) {
		r, err := s.object(ctx, g)
		if err != nil {
			return nil, err
		}
		return newChecked(ctx, r, g), nil
	}, s.Put)
	if err != nil {
		return err
	}
	return s.near.dir.Probe(ctx)
}

// heard is a request that ends when the service is silent for too long.
type heard struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	s      *S3
}

// listen begins to wait for the service.
func (s *S3) listen(ctx context.Context) *heard {
	ctx, cancel := context.WithCancelCause(ctx)
	return &heard{ctx: ctx, cancel: cancel, s: s, timer: time.AfterFunc(s.silence, func() { cancel(errSilent) })}
}

// more says that the service was heard.
func (h *heard) more() { h.timer.Reset(h.s.silence) }

// over ends the waiting. It may be called again.
func (h *heard) over() {
	h.timer.Stop()
	h.cancel(nil)
}

// said returns what an error of the service means: it is away, unless it was the
// asker who ended the request, or the answer is that there is no such object.
func (h *heard) said(asker context.Context, verb string, g Digest, err error) error {
	switch {
	case err == nil || missing(err) || Away(err):
		return err
	case errors.Is(context.Cause(h.ctx), errSilent):
		err = errSilent
	case asker.Err() != nil:
		return h.s.failed(verb, g, err)
	}
	return &AwayError{"the bucket " + h.s.bucket, h.s.failed(verb, g, err)}
}

// body is an object on its way.
type body struct {
	io.ReadCloser

	asker context.Context
	h     *heard
	g     Digest
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.h.more()
	}
	switch {
	case missing(err):
		err = fmt.Errorf("open blob %s: %w", b.g, ErrNotFound)
	case err != nil && !errors.Is(err, io.EOF):
		err = b.h.said(b.asker, "read", b.g, err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.h.over()
	_ = b.ReadCloser.Close() // whoever read to the end has it all
	return nil
}

// retries is how often a request is tried, with growing pauses. A job that fails
// for want of a file is tried again later anyway.
const retries = 5

// Ping reports whether the bucket can be reached and used.
func (s *S3) Ping(ctx context.Context) error {
	h := s.listen(ctx)
	defer h.over()
	ok, err := s.client.exists(h.ctx)
	if err != nil {
		return h.said(ctx, "ask for", "", err)
	}
	if !ok {
		return &AwayError{"the bucket " + s.bucket, fmt.Errorf("there is no bucket %s: create it", s.bucket)}
	}
	return nil
}

// Put implements Store. What is stored is in the bucket when it returns.
func (s *S3) Put(ctx context.Context, r io.Reader) (Digest, int64, error) {
	g, n, err := s.near.put(ctx, r)
	if err != nil {
		return "", 0, err
	}
	if err := s.upload(ctx, g, n); err != nil {
		return "", 0, errors.Join(err, s.near.drop(g))
	}
	return g, n, nil
}

// upload puts a near file into the bucket, unless it is there. An object appears whole or not at all: so S3 promises.
func (s *S3) upload(ctx context.Context, g Digest, size int64) error {
	h := s.listen(ctx)
	defer h.over()
	_, known := s.damaged.Load(g)
	if !known {
		switch there, err := s.client.stat(h.ctx, key(g)); {
		case err == nil && there == size:
			return nil
		case err != nil && !missing(err):
			return h.said(ctx, "look for", g, err)
		}
	}
	h.more()
	f, err := s.near.dir.open(g)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = s.client.put(h.ctx, key(g), f, size, h.more); err != nil {
		return h.said(ctx, "store", g, err)
	}
	s.damaged.Delete(g)
	return nil
}

// Open implements Store.
func (s *S3) Open(ctx context.Context, g Digest) (io.ReadCloser, error) {
	f, err := s.File(ctx, g)
	if err != nil {
		return nil, err
	}
	return newChecked(ctx, f, g), nil
}

// File implements Store.
func (s *S3) File(ctx context.Context, g Digest) (*os.File, error) {
	var err error
	for range 3 { // another process may drop what was just fetched
		var f *os.File
		if f, err = s.near.file(ctx, g); !errors.Is(err, ErrNotFound) {
			return f, err
		}
		// Whoever comes first fetches for all. If it gives up, the others go on.
		_, err, shared := s.flights.Do(string(g), func() (any, error) { return nil, s.fetch(ctx, g) })
		if err != nil && (!shared || ctx.Err() != nil || !canceled(err)) {
			return nil, err
		}
	}
	return nil, err
}

// fetch brings an object near.
func (s *S3) fetch(ctx context.Context, g Digest) error {
	r, err := s.object(ctx, g)
	if err != nil {
		return err
	}
	got, _, err := s.near.put(ctx, r)
	err = errors.Join(err, r.Close())
	switch {
	case err != nil:
		return err
	case got != g:
		s.damaged.Store(g, nil)
		return errors.Join(&CorruptError{Want: g, Got: got}, s.near.drop(got))
	}
	return nil
}

// object returns an object's content. The errors of asking for it come with the first read.
func (s *S3) object(ctx context.Context, g Digest) (io.ReadCloser, error) {
	if _, err := Parse(string(g)); err != nil {
		return nil, err
	}
	h := s.listen(ctx)
	r, err := s.client.get(h.ctx, key(g))
	if err != nil {
		defer h.over()
		return nil, h.said(ctx, "read", g, err)
	}
	return &body{ReadCloser: r, asker: ctx, h: h, g: g}, nil
}

// Has implements Store: it asks the bucket, which is what others see.
func (s *S3) Has(ctx context.Context, g Digest) (bool, error) {
	if _, err := Parse(string(g)); err != nil {
		return false, err
	}
	h := s.listen(ctx)
	defer h.over()
	switch _, err := s.client.stat(h.ctx, key(g)); {
	case missing(err):
		return false, nil
	case err != nil:
		return false, h.said(ctx, "look for", g, err)
	}
	return true, nil
}

// List implements Store.
func (s *S3) List(ctx context.Context, f func(Digest, int64) error) error {
	h := s.listen(ctx)
	defer h.over() // ends the listing
	for o := range s.client.list(h.ctx) {
		h.timer.Stop() // f may take its time
		if o.err != nil {
			return h.said(ctx, "list", "", o.err)
		}
		g, err := Parse(algorithm + o.key[strings.LastIndexByte(o.key, '/')+1:])
		if err != nil || key(g) != o.key {
			h.more()
			continue // not ours
		}
		if err := f(g, o.size); err != nil {
			return err
		}
		h.more()
	}
	return h.said(ctx, "list", "", context.Cause(h.ctx))
}

// Verify implements Store. It reads the object and not what is near.
func (s *S3) Verify(ctx context.Context, g Digest) error {
	r, err := s.object(ctx, g)
	if err != nil {
		return err
	}
	err = verify(ctx, r, g)
	if _, damaged := errors.AsType[*CorruptError](err); damaged {
		s.damaged.Store(g, nil)
	}
	return err
}

func (s *S3) failed(verb string, g Digest, err error) error {
	what := "bucket " + s.bucket
	if g != "" {
		what = fmt.Sprintf("blob %s in %s", g, what)
	}
	return fmt.Errorf("%s %s: %w", verb, what, err)
}

func key(g Digest) string { return g.Hex()[:2] + "/" + g.Hex() }

// missing reports whether an error says that there is no such object.
func missing(err error) bool {
	e, ok := errors.AsType[minio.ErrorResponse](err)
	return ok && e.Code == minio.NoSuchKey
}

func canceled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
