package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/blob/blobtest"
	"deepoj/host/embedded/servicetest"
	"deepoj/host/judge"
	"deepoj/web/client"
)

// TestAWorkerThatIsCutOffLosesNothing cuts a worker off from each service alone, and
// then from all, while jobs are handed in.
func TestAWorkerThatIsCutOffLosesNothing(t *testing.T) {
	needRoot(t)
	bucket, etcd := blobtest.Start(t, "../.."), servicetest.StartEtcd(t, nil)
	c := newClusterOf(t, binary, nil, "S3_ENDPOINT="+bucket.Endpoint, "S3_BUCKET="+bucket.Bucket, "S3_USE_TLS=false",
		"S3_ACCESS_KEY="+bucket.AccessKey, "S3_SECRET_KEY="+bucket.SecretKey, "ETCD_ENDPOINTS="+etcd.URL, "CACHE_DIR="+cache)
	queues, err := c.store.Queues(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	queues[0].Redeliver = 2 * time.Second // what was received and could not be claimed
	if err := c.store.SaveQueue(t.Context(), queues[0]); err != nil {
		t.Fatal(err)
	}
	proxies := map[string]*servicetest.Proxy{
		"etcd":       servicetest.StartProxy(t, strings.TrimPrefix(etcd.URL, "http://")),
		"S3":         servicetest.StartProxy(t, bucket.Endpoint),
		"Redis":      servicetest.StartProxy(t, c.redis.Socket),
		"PostgreSQL": servicetest.StartProxy(t, filepath.Join(c.pg.SockDir, ".s.PGSQL.5432")),
	}
	worker := start(t, append(slices.Clip(c.env), "WORKER_ID=far", "ETCD_ENDPOINTS=http://"+proxies["etcd"].Address, "S3_ENDPOINT="+proxies["S3"].Address,
		"REDIS_URL=redis://"+proxies["Redis"].Address, "DATABASE_URL=postgres://deepoj@"+proxies["PostgreSQL"].Address+"/deepoj?sslmode=disable"),
		"worker", "--data", servicetest.Folder(t))
	worker.await("jobs are taken")
	good := mixed()[0]
	hand := func() (id int64) {
		t.Helper()
		servicetest.Await(t, "the worker to be seen", func() bool {
			r, err := c.client.Submit(t.Context(), client.NewSubmission{Problem: "aplusb", Language: good.language, Sources: []judge.Source{{Name: good.file, Text: good.text}}})
			if err != nil { // it is not seen yet, or has not been for the time of a lease
				proxies["etcd"].Mend()
			}
			id = r.JobID
			return err == nil
		})
		return id
	}
	judged := func(id int64, when string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		s, err := c.client.Wait(ctx, id)
		if err != nil || s.Result == nil || s.Result.Verdict != good.want {
			t.Errorf("%s: %s, %v", when, describe(s), err)
		}
	}
	judged(hand(), "at first")
	for _, cut := range [][]string{{"etcd"}, {"S3"}, {"Redis"}, {"PostgreSQL"}, {"etcd", "S3", "Redis", "PostgreSQL"}} {
		for _, name := range cut {
			proxies[name].Cut()
		}
		id := hand()
		if goesOn := cut[0] == "S3" || len(cut) == 1 && cut[0] == "etcd"; goesOn {
			judged(id, "without "+cut[0])
		} else {
			pause(t.Context(), t, time.Second) // so that it tries
		}
		for _, name := range cut {
			proxies[name].Mend()
		}
		judged(id, "after an outage of "+strings.Join(cut, ", "))
	}
	etcd.Kill()
	judged(hand(), "when there is no etcd at all")
	if said := get(t, c.url+"/readyz"); !strings.Contains(said, `"name":"etcd","ok":false`) || !strings.Contains(said, `"status":"ready"`) {
		t.Errorf("without etcd /readyz says %s", said)
	}
	c.checkAudit(t.Context())
}
