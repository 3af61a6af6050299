package deploy_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// debian makes a package whose programs are some of this machine, which is all
// that packing needs.
func debian(t *testing.T, described string) string {
	t.Helper()
	programs, out := t.TempDir(), filepath.Join(t.TempDir(), "deepoj.deb")
	for _, name := range []string{"deepoj", "deepoj-feed", "deepoj-judge"} {
		program, err := os.ReadFile("/bin/true")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(programs, name), program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "../../.tools/deb.sh", programs, described, out)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000", "DEB_LEVEL=1")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return out
}

func TestThePackageHasWhatAMachineNeeds(t *testing.T) {
	deb := debian(t, "v1.2.3-4-gabcdef0")
	var names []string
	for line := range strings.Lines(tool(t, "dpkg-deb", "--contents", deb)) {
		f := strings.Fields(line)
		if f[1] != "root/root" {
			t.Errorf("not root's: %s", line)
		}
		if !strings.HasSuffix(f[5], "/") {
			names = append(names, f[0]+" "+strings.TrimPrefix(f[5], "."))
		}
	}
	want := []string{
		"-rw-r----- /etc/deepoj/environment",
		"-rw-r--r-- /usr/lib/sysusers.d/deepoj.conf", "-rw-r--r-- /usr/lib/tmpfiles.d/deepoj.conf",
		"-rw-r--r-- /usr/share/man/man1/deepoj.1.gz", "-rw-r--r-- /usr/share/doc/deepoj/copyright",
		"-rwxr-xr-x /usr/bin/deepoj", "-rwxr-xr-x /usr/bin/deepoj-feed", "-rwxr-xr-x /usr/bin/deepoj-judge",
		"-rw-r--r-- /usr/share/man/man1/deepoj-feed.1.gz", "-rw-r--r-- /usr/share/doc/deepoj/examples/feed.yaml",
	}
	units, err := filepath.Glob("systemd/*.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range units {
		want = append(want, "-rw-r--r-- /lib/systemd/system/"+filepath.Base(u))
	}
	for _, w := range want {
		if !slices.Contains(names, w) {
			t.Errorf("%s is missing in %v", w, names)
		}
	}
	control := tool(t, "dpkg-deb", "--field", deb)
	for _, line := range []string{"Package: deepoj\n", "Version: 1.2.3+4+gabcdef0\n", "Depends: adduser\n"} {
		if !strings.Contains(control, line) {
			t.Errorf("the control file lacks %q:\n%s", line, control)
		}
	}
	if strings.Contains(control, "@") && !strings.Contains(control, "maintainers@") || regexp.MustCompile(`@[A-Z]+@`).MatchString(control) {
		t.Errorf("something was not filled in:\n%s", control)
	}

	// What is unpacked is what its sums say, settings are kept at an upgrade, and
	// the scripts are understood.
	dir := t.TempDir()
	tool(t, "dpkg-deb", "--raw-extract", deb, dir)
	sums := exec.CommandContext(t.Context(), "md5sum", "--check", "--quiet", "DEBIAN/md5sums")
	sums.Dir = dir
	if said, err := sums.CombinedOutput(); err != nil {
		t.Errorf("sums: %v\n%s", err, said)
	}
	conffiles, err := os.ReadFile(filepath.Join(dir, "DEBIAN/conffiles"))
	if err != nil || string(conffiles) != "/etc/deepoj/environment\n" {
		t.Errorf("conffiles: %q, %v", conffiles, err)
	}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		tool(t, "sh", "-n", filepath.Join(dir, "DEBIAN", script))
	}
	// Its account and folders are those of systemd's files.
	postinst, err := os.ReadFile(filepath.Join(dir, "DEBIAN/postinst"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"adduser --system --group --home /var/lib/deepoj", "chmod 0750 /var/lib/deepoj", "chown root:deepoj /etc/deepoj", "chmod 0750 /etc/deepoj"} {
		if !bytes.Contains(postinst, []byte(part)) {
			t.Errorf("postinst does not %s", part)
		}
	}
}

func TestAPackageIsTheSameEachTime(t *testing.T) {
	one, err := os.ReadFile(debian(t, "3497d29"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(debian(t, "3497d29"))
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("two packages of the same input differ (%v)", err)
	}
}
