package strict_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// decoder reads objects as the server of Kubernetes does that validates strictly: an
// unknown field, or one in the wrong case, or given twice, is an error.
func decoder(t *testing.T) runtime.Decoder {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	return serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()
}

// manifests reads every manifest.
func manifests(t *testing.T) (all []metav1.Object) {
	t.Helper()
	files, err := filepath.Glob("../kubernetes/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	read := decoder(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, doc := range documents(t, text) {
			decoded, kind, err := read.Decode(doc, nil, nil)
			if err != nil {
				t.Fatalf("%s, document %d: %v", file, i, err)
			}
			o, ok := decoded.(metav1.Object)
			if !ok || o.GetName() == "" || (o.GetNamespace() != "deepoj") != (kind.Kind == "Namespace") {
				t.Fatalf("%s, document %d: %s without a name or in another namespace", file, i, kind)
			}
			all = append(all, o)
		}
	}
	return all
}

// documents returns the documents of a file.
func documents(t *testing.T, text []byte) (all [][]byte) {
	t.Helper()
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, doc)
	}
}

// all returns the manifests of one kind by name.
func all[T metav1.Object](objects []metav1.Object) map[string]T {
	found := map[string]T{}
	for _, o := range objects {
		if x, ok := o.(T); ok {
			found[o.GetName()] = x
		}
	}
	return found
}

// workload is a Deployment or a StatefulSet.
type workload struct {
	selector map[string]string
	labels   map[string]string
	pod      corev1.PodSpec
	claims   []string // volumes that it claims for each pod
}

func workloads(objects []metav1.Object) map[string]workload {
	found := map[string]workload{}
	for name, d := range all[*appsv1.Deployment](objects) {
		found[name] = workload{selector: d.Spec.Selector.MatchLabels, labels: d.Spec.Template.Labels, pod: d.Spec.Template.Spec}
	}
	for name, s := range all[*appsv1.StatefulSet](objects) {
		w := workload{selector: s.Spec.Selector.MatchLabels, labels: s.Spec.Template.Labels, pod: s.Spec.Template.Spec}
		for _, c := range s.Spec.VolumeClaimTemplates {
			w.claims = append(w.claims, c.Name)
		}
		found[name] = w
	}
	return found
}

func TestTheManifestsNameWhatThereIs(t *testing.T) {
	objects := manifests(t)
	found := workloads(objects)
	for _, name := range []string{"api", "scheduler", "worker"} {
		if _, there := found[name]; !there {
			t.Errorf("nothing runs the %s", name)
		}
	}
	for name, w := range found {
		if len(w.pod.Containers) != 1 || len(w.pod.InitContainers) != 0 {
			t.Fatalf("%s has other containers", name)
		}
		p := started(t, objects, name, w)
		p.check(t)
		if !matches(w.selector, w.labels) {
			t.Errorf("%s does not select its own pods", name)
		}
		account := all[*corev1.ServiceAccount](objects)[w.pod.ServiceAccountName]
		if account == nil || account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken ||
			w.pod.AutomountServiceAccountToken == nil || *w.pod.AutomountServiceAccountToken {
			t.Errorf("%s can speak to Kubernetes", name)
		}
		killed := time.Duration(*w.pod.TerminationGracePeriodSeconds) * time.Second
		if name == "worker" {
			drains(t, name, p.env["DRAIN_GRACE"], killed)
		}
		rights(t, name, w)
	}
}

// started gathers what the container of a workload starts, with every reference
// resolved.
func started(t *testing.T, objects []metav1.Object, name string, w workload) process {
	t.Helper()
	c := w.pod.Containers[0]
	p := process{where: name, image: c.Image, args: c.Args, env: map[string]string{}}
	for _, from := range c.EnvFrom {
		config := all[*corev1.ConfigMap](objects)[from.ConfigMapRef.Name]
		if config == nil {
			t.Fatalf("%s: no ConfigMap %s", name, from.ConfigMapRef.Name)
		}
		maps.Copy(p.env, config.Data)
	}
	for _, e := range c.Env {
		p.env[e.Name] = e.Value
		if e.ValueFrom != nil {
			p.env[e.Name] = "from-the-field"
		}
	}
	for _, m := range c.VolumeMounts {
		i := slices.IndexFunc(w.pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		switch {
		case i < 0 && slices.Contains(w.claims, m.Name):
		case i < 0:
			t.Errorf("%s mounts %s, which is no volume", name, m.Name)
		case w.pod.Volumes[i].Secret != nil:
			secret := all[*corev1.Secret](objects)[w.pod.Volumes[i].Secret.SecretName]
			if secret == nil {
				t.Fatalf("%s: no Secret %s", name, w.pod.Volumes[i].Secret.SecretName)
			}
			for key := range secret.StringData {
				p.mounts = append(p.mounts, m.MountPath+"/"+key)
			}
		}
	}
	return p
}

// rights complains about more rights than a process needs, or fewer.
func rights(t *testing.T, name string, w workload) {
	t.Helper()
	c := w.pod.Containers[0].SecurityContext
	if name == "worker" {
		if c.Privileged == nil || !*c.Privileged || *c.RunAsUser != 0 {
			t.Error("the worker cannot make boxes")
		}
		return
	}
	pod := w.pod.SecurityContext
	closed := *pod.RunAsNonRoot && *pod.RunAsUser == 10001 && pod.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault &&
		c.Privileged == nil && !*c.AllowPrivilegeEscalation && *c.ReadOnlyRootFilesystem && slices.Equal(c.Capabilities.Drop, []corev1.Capability{"ALL"})
	if !closed {
		t.Errorf("%s has more rights than it needs", name)
	}
}

func matches(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

func TestWhatSelectsPodsFindsThem(t *testing.T) {
	objects := manifests(t)
	found := workloads(objects)
	selects := func(what string, selector map[string]string) {
		t.Helper()
		for _, w := range found {
			if matches(selector, w.labels) {
				return
			}
		}
		t.Errorf("%s selects nothing: %v", what, selector)
	}
	for name, s := range all[*corev1.Service](objects) {
		selects("Service "+name, s.Spec.Selector)
	}
	budgets := all[*policyv1.PodDisruptionBudget](objects)
	for name := range found {
		if budgets[name] == nil || !matches(budgets[name].Spec.Selector.MatchLabels, found[name].labels) {
			t.Errorf("all of %s may be taken away together", name)
		}
	}
	closed := false
	for name, n := range all[*networkingv1.NetworkPolicy](objects) {
		if len(n.Spec.PodSelector.MatchLabels) > 0 {
			selects("NetworkPolicy "+name, n.Spec.PodSelector.MatchLabels)
			continue
		}
		closed = len(n.Spec.PolicyTypes) == 2 && len(n.Spec.Ingress) == 0
	}
	if !closed {
		t.Error("what no policy names may come in")
	}
}

// TestTheMetricsAreForTheirReadersAlone looks for who may reach them: they have an
// address of their own, and no token.
func TestTheMetricsAreForTheirReadersAlone(t *testing.T) {
	objects := manifests(t)
	for name, w := range workloads(objects) {
		p := started(t, objects, name, w)
		_, listens, _ := strings.Cut(p.env["METRICS_LISTEN"], ":")
		port := slices.IndexFunc(w.pod.Containers[0].Ports, func(p corev1.ContainerPort) bool { return p.Name == "metrics" })
		if port < 0 || listens != fmt.Sprint(w.pod.Containers[0].Ports[port].ContainerPort) {
			t.Errorf("%s serves its metrics at %q, and has no such port", name, listens)
		}
		if name == "api" && !strings.Contains(strings.Join(p.args, " ")+" ", " --auth required ") {
			t.Error("the api may take guests")
		}
	}
	readers := 0
	for name, n := range all[*networkingv1.NetworkPolicy](objects) {
		for _, in := range n.Spec.Ingress {
			if len(in.Ports) == 0 {
				t.Errorf("%s lets everything in", name)
			}
			for _, p := range in.Ports {
				if p.Port.String() != "metrics" {
					continue
				}
				readers++
				if len(in.From) == 0 {
					t.Errorf("%s lets everybody read the metrics", name)
				}
			}
		}
	}
	if readers != 1 {
		t.Errorf("%d policies say who reads the metrics", readers)
	}
	for name, s := range all[*corev1.Service](objects) {
		for _, p := range s.Spec.Ports {
			if p.TargetPort.String() == "metrics" {
				t.Errorf("the service %s hands metrics out", name)
			}
		}
	}
}

func TestTheApiIsAskedWhetherItIsWell(t *testing.T) {
	api := workloads(manifests(t))["api"].pod.Containers[0]
	routes, err := os.ReadFile(filepath.Join(top, "web", "addresses.go"))
	if err != nil {
		t.Fatal(err)
	}
	listens := api.Args[slices.Index(api.Args, "--listen")+1]
	for what, probe := range map[string]*corev1.Probe{"/healthz": api.LivenessProbe, "/readyz": api.ReadinessProbe} {
		if probe == nil || probe.HTTPGet.Path != what || !strings.Contains(string(routes), `"GET `+what+`"`) {
			t.Errorf("nobody asks %s, or nothing answers there", what)
			continue
		}
		port := slices.IndexFunc(api.Ports, func(p corev1.ContainerPort) bool { return p.Name == probe.HTTPGet.Port.String() })
		if port < 0 || !strings.HasSuffix(listens, fmt.Sprintf(":%d", api.Ports[port].ContainerPort)) {
			t.Errorf("%s is asked at %s, and the api listens on %s", what, probe.HTTPGet.Port.String(), listens)
		}
	}
}
