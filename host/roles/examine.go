package roles

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"deepoj/host/doctor"
	"deepoj/host/embedded"
	"deepoj/host/liveness"
	"deepoj/host/settings"
	"deepoj/queue"
	"deepoj/sql"
)

// Services are the ones that are configured, or what the embedded default would start.
func Services(s *settings.Settings) []doctor.Service {
	pg := doctor.Service{Name: "postgresql", Remedy: "apt-get install postgresql, or set DATABASE_URL", Ask: func(ctx context.Context) (string, error) {
		b, err := embedded.FindPostgres(ctx, "", 0)
		return "embedded, version " + b.Version, err
	}}
	if s.DatabaseURL != "" {
		pg.Mend = postgresService.remedy
		pg.Ask = func(ctx context.Context) (string, error) {
			store, err := sql.Open(ctx, sql.Config{DSN: s.DatabaseURL, MaxConns: 2})
			if err != nil {
				return "", err
			}
			defer store.Close()
			return "reached", store.Ping(ctx)
		}
	}
	redis := doctor.Service{Name: "redis", Optional: s.Delivery != "streams", Remedy: "apt-get install redis-server, or set REDIS_URL, or DELIVERY=postgres", Ask: func(context.Context) (string, error) {
		path, err := embedded.FindRedis("")
		return "embedded, " + path, err
	}}
	if url := s.RedisURL; url != "" {
		redis.Mend = redisService.remedy
		redis.Ask = func(ctx context.Context) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			certificates, err := s.RedisTLS.Client("REDIS")
			if err != nil {
				return "", err
			}
			q, err := queue.Open(ctx, queue.Config{URL: url, TLS: certificates, Consumer: "doctor", Stream: s.JobStream, Group: s.StreamGroup})
			if err != nil {
				return "", err
			}
			return "reached", errors.Join(q.Ping(ctx), q.Close())
		}
	}
	all := []doctor.Service{pg, redis}
	if dir := s.BlobDir; dir != "" && s.S3.Endpoint == "" {
		all = append(all, doctor.Service{Name: "blob folder", Remedy: NeedRemedies["blob_store"], Ask: func(context.Context) (string, error) {
			_, err := os.ReadDir(dir) // a worker makes it where it is missing; reading it harms nobody
			return dir, err
		}})
	}
	if len(s.EtcdEndpoints) > 0 {
		all = append(all, doctor.Service{Name: "etcd", Optional: true, Mend: etcdService.remedy, Ask: func(ctx context.Context) (string, error) {
			e, err := openEtcd(s, liveness.NewPostgres(nil, 0), slog.New(slog.DiscardHandler)) // nobody asks for rows
			if err != nil {
				return "", err
			}
			return "reached", errors.Join(e.Ping(ctx), e.Close())
		}})
	}
	if s.S3.Endpoint != "" {
		all = append(all, doctor.Service{Name: "object store", Remedy: S3Remedy, Ask: func(ctx context.Context) (string, error) {
			dir, err := os.MkdirTemp("", "deepoj-doctor-")
			if err != nil {
				return "", err
			}
			defer os.RemoveAll(dir)
			bucket, err := OpenBlobs(s, dir)
			if err != nil {
				return "", err
			}
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return "reached", bucket.(pinger).Ping(ctx)
		}})
	}
	return all
}
