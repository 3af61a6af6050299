package plugin_test

import (
	"errors"
	"strings"
	"testing"

	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

// with returns a module with a manifest section.
func with(t *testing.T, manifest string) []byte {
	t.Helper()
	return module(manifestSection(t, manifest), accepting[8:])
}

func TestManifestsAreTakenInOrder(t *testing.T) {
	r := open(t, plugin.Config{Workers: 1})
	given := checker(abi.ICPC1, abi.Limits{})

	t.Run("the section is believed", func(t *testing.T) {
		m, err := r.Load(t.Context(), with(t, `{"judge":1,"kind":"checker","name":"own","version":"2.0","protocol":"testlib/1","colour":"red"}`), given)
		if err != nil || m.Manifest.Name != "own" || m.Manifest.Protocol != abi.Testlib1 || m.Origin != plugin.FromSection {
			t.Errorf("got %+v, %v", m, err)
		}
	})
	t.Run("else the module describes itself", func(t *testing.T) {
		wasm := buildC(t, "describes")
		for range 2 { // the second time from the cache
			m, err := r.Load(t.Context(), wasm, given)
			if err != nil || m.Manifest.Name != "spoken" || m.Origin != plugin.FromDescribe {
				t.Errorf("got %+v, %v", m, err)
			}
		}
	})
	t.Run("else it is given", func(t *testing.T) {
		m, err := r.Load(t.Context(), accepting, given)
		if err != nil || m.Manifest.Name != given.Name || m.Origin != plugin.FromUpload {
			t.Errorf("got %+v, %v", m, err)
		}
	})
	t.Run("a description can be asked for later", func(t *testing.T) {
		for name, wasm := range map[string][]byte{"spoken": buildC(t, "describes"), "": accepting} {
			m, err := r.Load(t.Context(), wasm, given)
			if err != nil {
				t.Fatal(err)
			}
			said, err := r.Describe(t.Context(), m)
			if err != nil || (said == nil) != (name == "") || said != nil && said.Name != name {
				t.Errorf("got %+v, %v, want the name %q", said, err, name)
			}
		}
	})
	t.Run("else the module is refused", func(t *testing.T) {
		_, err := r.Load(t.Context(), accepting, nil)
		wantManifestRefusal(t, err, "none", abi.Section)
	})
	t.Run("a bad one that is given is refused too", func(t *testing.T) {
		bad := *given
		bad.Protocol = "testlib/9"
		_, err := r.Load(t.Context(), accepting, &bad)
		wantManifestRefusal(t, err, "testlib/9", "icpc/1")
	})
}

func wantManifestRefusal(t *testing.T, err error, offender, remedy string) {
	t.Helper()
	var refusal *plugin.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("got %v, want a refusal", err)
	}
	if refusal.Rule != "manifest" || !strings.Contains(refusal.Offender, offender) || !strings.Contains(refusal.Remedy, remedy) {
		t.Errorf("got %+v, want rule manifest, offender %q, remedy %q", refusal, offender, remedy)
	}
}

func TestManifestsThatThisHostCannotServeAreRefused(t *testing.T) {
	r := open(t, plugin.Config{Workers: 1})
	tests := map[string]struct{ manifest, offender, remedy string }{
		"no JSON":                      {`{`, "JSON", "README"},
		"a later contract":             {`{"judge":2,"kind":"checker","name":"a","version":"1","protocol":"testlib/1"}`, "judge is 2", "judge 1"},
		"no contract":                  {`{"kind":"checker"}`, "judge is 0", "judge 1"},
		"an unknown kind":              {`{"judge":1,"kind":"painter","name":"a","version":"1","protocol":"testlib/1"}`, "painter", "toolchain"},
		"an unknown protocol":          {`{"judge":1,"kind":"checker","name":"a","version":"1","protocol":"testlib/2"}`, "testlib/2", "icpc/1"},
		"a checker with a plan":        {`{"judge":1,"kind":"checker","name":"a","version":"1","protocol":"plan/1"}`, "plan/1", "testlib/1"},
		"an unknown need":              {`{"judge":1,"kind":"checker","name":"a","version":"1","protocol":"testlib/1","needs":["gpu"]}`, "gpu", "interactive points feedback diagnostics"},
		"no name":                      {`{"judge":1,"kind":"checker","version":"1","protocol":"testlib/1"}`, "name", "letters"},
		"a version with blanks":        {`{"judge":1,"kind":"checker","name":"a","version":"1 2","protocol":"testlib/1"}`, "version", "digits"},
		"a negative limit":             {`{"judge":1,"kind":"checker","name":"a","version":"1","protocol":"testlib/1","limits":{"fuel_m":-1}}`, "negative", "default"},
		"a test that expects nonsense": {`{"judge":1,"kind":"checker","name":"a","version":"1","protocol":"testlib/1","tests":[{"expect":"maybe"}]}`, "maybe", "accepted"},
		"a toolchain without language": {`{"judge":1,"kind":"toolchain","name":"a","version":"1","protocol":"plan/1"}`, "without a language", "language"},
		"a language without tools":     {`{"judge":1,"kind":"toolchain","name":"a","version":"1","protocol":"plan/1","language":{"id":"x","name":"X","extensions":["x"]}}`, "lacks", "tools"},
		"a pattern that is none":       {`{"judge":1,"kind":"toolchain","name":"a","version":"1","protocol":"plan/1","language":{"id":"x","name":"X","extensions":["x"],"tools":[{"name":"x","pattern":"("}]}}`, "missing closing", "Go"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := r.Load(t.Context(), with(t, tt.manifest), nil)
			wantManifestRefusal(t, err, tt.offender, tt.remedy)
		})
	}
	t.Run("two of them", func(t *testing.T) {
		one := manifestSection(t, `{"judge":1,"kind":"checker","name":"a","version":"1","protocol":"testlib/1"}`)
		_, err := r.Load(t.Context(), module(one, one, accepting[8:]), nil)
		wantManifestRefusal(t, err, "two sections", "one")
	})
	t.Run("one of 100 KB", func(t *testing.T) {
		_, err := r.Load(t.Context(), with(t, `{"judge":1}`+strings.Repeat(" ", 100_000)), nil)
		wantManifestRefusal(t, err, "bytes", "shorten")
	})
}

func TestLimitsAreClippedByTheOperator(t *testing.T) {
	r := open(t, plugin.Config{Workers: 1, MemoryMiB: 32, MaxMemoryMiB: 64, FuelM: 10, MaxFuelM: 20, OutputKiB: 1, MaxOutputKiB: 2})
	tests := map[string]struct{ ask, want abi.Limits }{
		"no wish is the default":  {abi.Limits{}, abi.Limits{MemoryMiB: 32, FuelM: 10, OutputKiB: 1}},
		"a small wish is granted": {abi.Limits{MemoryMiB: 1, FuelM: 2, OutputKiB: 1}, abi.Limits{MemoryMiB: 1, FuelM: 2, OutputKiB: 1}},
		"a large one is clipped":  {abi.Limits{MemoryMiB: 4000, FuelM: 4000, OutputKiB: 4000}, abi.Limits{MemoryMiB: 64, FuelM: 20, OutputKiB: 2}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, err := r.Load(t.Context(), accepting, checker(abi.Testlib1, tt.ask))
			if err != nil || m.Manifest.Limits != tt.want || m.Asked != tt.ask {
				t.Errorf("got %+v, %v, want %+v", m, err, tt.want)
			}
		})
	}
}

func TestAConfigNamesEveryBadField(t *testing.T) {
	_, err := plugin.New(plugin.Config{Workers: -1, FuelM: -2, MaxMemoryMiB: 5000})
	for _, field := range []string{"CacheDir", "Workers", "FuelM", "MaxMemoryMiB"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
}
