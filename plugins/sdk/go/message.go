package sdk

import "deepoj/plugins/abi"

// What is here mirrors the fields and tags of package abi. A test finds the field that is missing.

func (r *reader) planRequest(q *abi.PlanRequest) {
	r.fields(func(name string) {
		switch name {
		case "judge":
			integer(r, &q.Judge)
		case "op":
			r.text(&q.Op)
		case "sources":
			list(r, &q.Sources, r.source)
		case "options":
			table(r, &q.Options, r.text)
		case "limits":
			r.runLimits(&q.Limits)
		case "host":
			r.host(&q.Host)
		case "entry":
			r.text(&q.Entry)
		default:
			r.skip()
		}
	})
}

func (r *reader) source(s *abi.Source) {
	r.fields(func(name string) {
		switch name {
		case "name":
			r.text(&s.Name)
		case "text":
			r.text(&s.Text)
		default:
			r.skip()
		}
	})
}

func (r *reader) runLimits(l *abi.RunLimits) {
	r.fields(func(name string) {
		switch name {
		case "cpu_ms":
			integer(r, &l.CPUMillis)
		case "memory_mib":
			integer(r, &l.MemoryMiB)
		default:
			r.skip()
		}
	})
}

func (r *reader) host(h *abi.Host) {
	r.fields(func(name string) {
		switch name {
		case "tools":
			table(r, &h.Tools, r.toolVersion)
		default:
			r.skip()
		}
	})
}

func (r *reader) toolVersion(v *abi.ToolVersion) {
	r.fields(func(name string) {
		switch name {
		case "version":
			r.text(&v.Version)
		default:
			r.skip()
		}
	})
}

func (r *reader) diagnosticsRequest(q *abi.DiagnosticsRequest) {
	r.fields(func(name string) {
		switch name {
		case "judge":
			integer(r, &q.Judge)
		case "op":
			r.text(&q.Op)
		case "sources":
			list(r, &q.Sources, r.source)
		case "stdout":
			r.text(&q.Stdout)
		case "stderr":
			r.text(&q.Stderr)
		default:
			r.skip()
		}
	})
}

func (w *writer) manifest(m abi.Manifest) {
	w.object(func() {
		writeInteger(w, "judge", m.Judge)
		w.text("kind", string(m.Kind))
		w.text("name", m.Name)
		w.text("version", m.Version)
		w.text("protocol", string(m.Protocol))
		w.mayTexts("needs", m.Needs)
		if m.Limits != (abi.Limits{}) {
			w.member("limits", func() {
				mayInteger(w, "memory_mib", m.Limits.MemoryMiB)
				mayInteger(w, "fuel_m", m.Limits.FuelM)
				mayInteger(w, "output_kib", m.Limits.OutputKiB)
			})
		}
		w.mayBoolean("equal_accepts", m.EqualAccepts)
		w.mayRaw("options", m.Options)
		w.mayTexts("args", m.Args)
		mayArray(w, "tests", m.Tests, w.test)
		if m.Language != nil {
			w.name("language")
			w.language(*m.Language)
		}
	})
}

func (w *writer) test(t abi.Test) {
	w.object(func() {
		w.text("input", t.Input)
		w.text("output", t.Output)
		w.text("answer", t.Answer)
		w.mayTexts("args", t.Args)
		w.text("expect", t.Expect)
	})
}

func (w *writer) language(l abi.Language) {
	w.object(func() {
		w.text("id", l.ID)
		w.text("name", l.Name)
		w.texts("extensions", l.Extensions)
		w.mayTexts("shebangs", l.Shebangs)
		w.mayTexts("hints", l.Hints)
		w.text("editor", l.Editor)
		array(w, "tools", l.Tools, w.tool)
		array(w, "hello", l.Hello, w.source)
		array(w, "broken", l.Broken, w.source)
		writeInteger(w, "broken_line", l.BrokenLine)
		w.mayNumber("cpu_factor", l.Factor)
		w.boolean("compiled", l.Compiled)
	})
}

func (w *writer) tool(t abi.Tool) {
	w.object(func() {
		w.text("name", t.Name)
		w.texts("version", t.Version)
		w.text("pattern", t.Pattern)
		w.text("package", t.Package)
	})
}

func (w *writer) source(s abi.Source) {
	w.object(func() {
		w.text("name", s.Name)
		w.text("text", s.Text)
	})
}

func (w *writer) plan(p abi.Plan) {
	w.object(func() {
		writeInteger(w, "judge", p.Judge)
		if p.Error != nil {
			w.member("error", func() {
				w.text("message", p.Error.Message)
				writeInteger(w, "source", p.Error.Source)
				writeInteger(w, "line", p.Error.Line)
			})
		}
		mayArray(w, "files", p.Files, w.file)
		mayArray(w, "compile", p.Compile, w.step)
		w.mayTexts("artifacts", p.Artifacts)
		w.name("run")
		w.step(p.Run)
		if p.Diagnostics != (abi.Format{}) {
			w.member("diagnostics", func() {
				w.text("format", p.Diagnostics.Name)
				w.mayText("pattern", p.Diagnostics.Pattern)
			})
		}
	})
}

func (w *writer) file(f abi.File) {
	w.object(func() {
		w.text("path", f.Path)
		if f.Source != nil {
			writeInteger(w, "source", *f.Source)
		}
		w.mayText("text", f.Text)
	})
}

func (w *writer) step(s abi.Step) {
	w.object(func() {
		w.mayText("tool", s.Tool)
		w.mayText("program", s.Program)
		w.mayTexts("args", s.Args)
		w.mayTable("env", s.Env)
		if s.Limits != (abi.StepLimits{}) {
			w.member("limits", func() {
				mayInteger(w, "cpu_ms", s.Limits.CPUMillis)
				mayInteger(w, "memory_mib", s.Limits.MemoryMiB)
				mayInteger(w, "extra_memory_mib", s.Limits.ExtraMemoryMiB)
				mayInteger(w, "processes", s.Limits.Processes)
				mayInteger(w, "file_mib", s.Limits.FileMiB)
			})
		}
		w.mayText("memory_policy", s.MemoryPolicy)
		w.mayText("memory_exit", s.MemoryExit)
	})
}

func (w *writer) diagnosticsReply(d abi.DiagnosticsReply) {
	w.object(func() {
		writeInteger(w, "judge", d.Judge)
		array(w, "diagnostics", d.Diagnostics, w.diagnostic)
	})
}

func (w *writer) diagnostic(d abi.Diagnostic) {
	w.object(func() {
		w.text("file", d.File)
		writeInteger(w, "line", d.Line)
		mayInteger(w, "column", d.Column)
		w.text("severity", d.Severity)
		w.text("message", d.Message)
	})
}
