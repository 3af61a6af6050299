package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deepoj/host/blob"
	"deepoj/host/blob/blobtest"
	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/web/client"
)

// TestABucketMayKeepEverythingThatAFolderWould runs Deep-OJ with its packages in
// an S3 service, which goes away and is damaged on the way.
func TestABucketMayKeepEverythingThatAFolderWould(t *testing.T) {
	needRoot(t)
	server := blobtest.Start(t, "../..")
	secret := filepath.Join(folder(t), "secret")
	if err := os.WriteFile(secret, []byte(server.SecretKey+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"S3_ENDPOINT=" + server.Endpoint, "S3_BUCKET=" + server.Bucket, "S3_USE_TLS=false",
		"S3_ACCESS_KEY=" + server.AccessKey, "S3_SECRET_KEY_FILE=" + secret,
	}
	data := filepath.Join(folder(t), "data")
	p, url, c := up(t, data, env)
	judged := func() {
		t.Helper()
		good := mixed()[0]
		r, err := c.Submit(t.Context(), client.NewSubmission{Problem: "aplusb", Language: good.language, Sources: []judge.Source{{Name: good.file, Text: good.text}}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Wait(t.Context(), r.JobID)
		if err != nil || s.Result == nil || s.Result.Verdict != good.want {
			t.Errorf("submission: %s, %v; want %s", describe(s), err, good.want)
		}
	}
	missing := func() []string {
		t.Helper()
		res, err := http.Get(url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var said struct{ Missing []string }
		body, err := io.ReadAll(res.Body)
		if err == nil {
			err = json.Unmarshal(body, &said)
		}
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("/readyz: %d, %v: %s", res.StatusCode, err, body)
		}
		return said.Missing
	}
	judged()
	if m := missing(); slices.Contains(m, "object store") {
		t.Errorf("/readyz lacks %q", m)
	}
	if files, err := os.ReadDir(filepath.Join(data, "blobs")); err == nil && len(files) > 0 {
		t.Errorf("the folder was used too: %v", files)
	}

	server.Kill(t)
	if m := missing(); !slices.Contains(m, "object store") {
		t.Errorf("without the service /readyz lacks %q, want the object store", m)
	}
	judged() // the package is near
	server.Restart(t)

	// What a folder has can be moved.
	old, err := blob.OpenDir(filepath.Join(folder(t), "old"))
	if err != nil {
		t.Fatal(err)
	}
	moved, _, err := old.Put(t.Context(), strings.NewReader("from the folder"))
	if err != nil {
		t.Fatal(err)
	}
	give(t, old.Root())
	args := append([]string{"CACHE_DIR=" + cache}, env...)
	if out, errs, status := deepoj(t, args, "blob", "copy", "--data", data, old.Root()); status != 0 || !strings.Contains(out, "copied 1 blobs") {
		t.Errorf("blob copy: status %d\n%s%s", status, out, errs)
	}
	if out, errs, status := deepoj(t, args, "blob", "fsck", "--data", data); status != 0 || !strings.Contains(out, "0 damaged, 0 missing") {
		t.Errorf("blob fsck: status %d\n%s%s", status, out, errs)
	}

	object := filepath.Join(server.Dir, moved.Hex()[:2], moved.Hex())
	if err := os.WriteFile(object, []byte("another content"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, status := deepoj(t, args, "blob", "fsck", "--data", data)
	if status != 1 || !strings.Contains(out, "damaged  "+string(moved)) || !strings.Contains(out, "1 damaged, 0 missing") {
		t.Errorf("blob fsck of a damaged object: status %d\n%s%s", status, out, errs)
	}
	if err := os.RemoveAll(server.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(server.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	out, errs, status = deepoj(t, args, "blob", "fsck", "--data", data)
	if status != 1 || !strings.Contains(out, "problem aplusb") {
		t.Errorf("blob fsck of an empty bucket: status %d\n%s%s", status, out, errs)
	}
	if strings.Contains(p.log.String()+out+errs, server.SecretKey) {
		t.Error("the secret key was printed")
	}
}

// give gives a folder to the account that deepoj becomes.
func give(t testing.TB, dir string) {
	t.Helper()
	account, err := embedded.Unprivileged("")
	if err != nil {
		t.Fatal(err)
	}
	if account == nil {
		return
	}
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, int(account.UID), int(account.GID)))
	})
	if err != nil {
		t.Fatal(err)
	}
}
