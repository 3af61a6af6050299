package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/support/supporttest"
	"deepoj/sql"
	"deepoj/sql/jobs"
)

// TestASupportBundleShowsHowAMachineIs collects one from a Deep-OJ that has just
// judged something.
func TestASupportBundleShowsHowAMachineIs(t *testing.T) {
	needRoot(t)
	dir := folder(t)
	data, log, bundle := filepath.Join(dir, "data"), filepath.Join(dir, "deepoj.log"), filepath.Join(dir, "bundle.tar.gz")
	p, _, c := up(t, data, nil)
	submitAndWait(t.Context(), t, c, "aplusb", verdictPrograms[0])
	password := p.await(`The first account is admin with the password (\S+)`)[1]
	if err := os.WriteFile(log, []byte(p.log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, status := deepoj(t, nil, "support-bundle", "--data", data, "--log", log, "--output", bundle)
	if status != 0 || !strings.Contains(out, bundle) {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	if info, err := os.Stat(bundle); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the archive can be read by others: %v, %v", info, err)
	}
	files := unpack(t, bundle)
	for name, want := range map[string]string{
		"about.json": `"kernel"`, "config.json": `"JOB_LEASE_SEC"`, "doctor.txt": "sandbox", "metrics.txt": "worker_finalize_total", "readyz.txt": "200 OK",
		"log/1-deepoj.log": "Deep-OJ is ready", "log/postgres.log": "",
	} {
		if text, ok := files[name]; !ok || !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", name, want, tail(text, 20))
		}
		if strings.Contains(files[name], password) {
			t.Errorf("%s tells the first password", name)
		}
	}
	var doctor struct{ Healthy bool }
	var schema sql.Schema
	var workers []judge.WorkerInfo
	var queue struct{ Figures judge.QueueStats }
	var audit []jobs.AuditRow
	for name, into := range map[string]any{"doctor.json": &doctor, "schema.json": &schema, "workers.json": &workers, "queue.json": &queue, "audit.json": &audit} {
		if err := json.Unmarshal([]byte(files[name]), into); err != nil {
			t.Errorf("%s: %v\n%s", name, err, files[name])
		}
	}
	if !doctor.Healthy || schema.Version == 0 || schema.Version != schema.Binary || len(workers) != 1 || workers[0].Calibration <= 0 || queue.Figures.Judged == 0 || len(audit) == 0 {
		t.Errorf("doctor %+v, schema %+v, workers %+v, queue %+v, audit %+v", doctor, schema, workers, queue, audit)
	}
	if _, errs, status := deepoj(t, nil, "support-bundle", "--data", data, "--output", bundle); status != 1 || !strings.Contains(errs, "exists") {
		t.Errorf("a bundle that is there was written again: status %d, %s", status, errs)
	}
}

// unpack returns the files of the support bundle at path.
func unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	files, err := supporttest.Files(f)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
