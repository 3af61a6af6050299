package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Kernel looks at what the sandbox needs of the kernel. Root is the file system of the machine, such as os.DirFS("/"),
// and uid the effective user id of who will start the sandbox.
func Kernel(root fs.FS, uid int) Exam {
	return func(context.Context) []Check {
		return []Check{privilege(uid), cgroups(root), namespaces(root), seccomp(root), landlock(root), swap(root)}
	}
}

// read returns a file of the machine, or "" when it is not there.
func read(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(b)
}

func privilege(uid int) Check {
	if uid == 0 {
		return Check{Name: "privilege", OK: true, Detail: "root: the sandbox agent can contain programs"}
	}
	return Check{
		Name: "privilege", OK: true, Degraded: true, Detail: fmt.Sprintf("user %d is not root", uid),
		Remedy: "start the sandbox agent as root: make run does so through sudo, and only the agent keeps root; " +
			"or without root on cgroup v2, below systemd-run --user --scope -p Delegate=yes",
	}
}

// Controllers without which programs cannot be bounded.
var controllers = []string{"memory", "pids"}

// cgroups says which layout of control groups the machine has.
func cgroups(root fs.FS) Check {
	c := Check{Name: "cgroups", OK: true}
	v1, v2 := map[string]bool{}, ""
	for line := range strings.Lines(read(root, "proc/self/mountinfo")) {
		before, after, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(kind) < 3 {
			continue
		}
		switch kind[0] {
		case "cgroup2":
			v2 = fields[4]
		case "cgroup":
			for o := range strings.SplitSeq(kind[2], ",") {
				v1[o] = true
			}
		}
	}
	has := func(which func(string) bool) []string {
		return slices.DeleteFunc(slices.Clone(controllers), which)
	}
	lackV1 := has(func(name string) bool { return v1[name] })
	available := strings.Fields(read(root, strings.TrimPrefix(v2, "/")+"/cgroup.controllers"))
	lackV2 := has(func(name string) bool { return slices.Contains(available, name) })
	switch {
	case v2 != "" && len(lackV2) == 0:
		c.Detail = "v2 at " + v2
	case v2 != "" && len(lackV1) == 0:
		c.Detail = "hybrid: limits in v1, processes in v2 at " + v2
	case len(lackV1) == 0:
		c.Detail, c.Degraded = "v1 only", true
		c.Remedy = "boot with systemd.unified_cgroup_hierarchy=1 on the kernel command line for the v2 layout"
	case v2 != "":
		c.OK, c.Detail = false, "v2 at "+v2+" lacks the controllers "+strings.Join(lackV2, " ")
		c.Remedy = "boot with cgroup_enable=memory on the kernel command line; in a container, delegate the controllers: " +
			"docker run --privileged --cgroupns=host, or Delegate=yes in the systemd unit"
	default:
		c.OK, c.Detail = false, "none: memory cannot be bounded"
		c.Remedy = "mount -t cgroup2 none /sys/fs/cgroup"
	}
	return c
}

// Namespaces that contain a program.
var needed = []string{"mnt", "pid", "net", "ipc", "uts", "cgroup"}

func namespaces(root fs.FS) Check {
	var lack []string
	for _, n := range needed {
		if _, err := fs.Lstat(root, "proc/self/ns/"+n); errors.Is(err, fs.ErrNotExist) {
			lack = append(lack, n)
		}
	}
	if len(lack) > 0 {
		return Check{
			Name: "namespaces", Detail: "the kernel lacks " + strings.Join(lack, " "),
			Remedy: "use a kernel with CONFIG_NAMESPACES and its options, as every distribution builds it",
		}
	}
	return Check{Name: "namespaces", OK: true, Detail: strings.Join(needed, " ")}
}

func seccomp(root fs.FS) Check {
	actions := strings.Fields(read(root, "proc/sys/kernel/seccomp/actions_avail"))
	if !slices.Contains(actions, "errno") || !slices.Contains(actions, "kill_process") {
		return Check{
			Name: "seccomp", Detail: "system calls cannot be filtered",
			Remedy: "use a kernel with CONFIG_SECCOMP_FILTER, as every distribution builds it",
		}
	}
	return Check{Name: "seccomp", OK: true, Detail: strings.Join(actions, " ")}
}

func landlock(root fs.FS) Check {
	modules := strings.Split(strings.TrimSpace(read(root, "sys/kernel/security/lsm")), ",")
	if slices.Contains(modules, "landlock") {
		return Check{Name: "landlock", OK: true, Detail: "enabled"}
	}
	return Check{
		Name: "landlock", OK: true, Degraded: true, Detail: "absent: the second layer around files is missing",
		Remedy: "Linux 5.13 or later, booted with landlock in the lsm= list of the kernel command line",
	}
}

func swap(root fs.FS) Check {
	lines := slices.Collect(strings.Lines(read(root, "proc/swaps")))
	if len(lines) > 1 {
		device, _, _ := strings.Cut(lines[1], " ")
		return Check{
			Name: "swap", OK: true, Degraded: true, Detail: "on, such as " + device + ": programs that swap measure wrong times",
			Remedy: "swapoff -a, and take swap out of /etc/fstab",
		}
	}
	return Check{Name: "swap", OK: true, Detail: "off"}
}
