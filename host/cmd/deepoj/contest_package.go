package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deepoj/host/command"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/rehearsal"
	"deepoj/host/restore"
	"deepoj/sql"
	"deepoj/web/client"
)

// exportContest writes the contest package of a round.
func exportContest(f *command.Flags) command.Run {
	out := f.String("o", "", "`file` to write; ROUND.zip when empty")
	release := f.String("release", string(clics.V202601), "release of the Contest API: 2026-01 or 2023-06")
	problems := f.Bool("problems", true, "also the packages of the problems, which make it large, as far as you may read them")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		round := c.Args[0]
		name := cmp.Or(*out, filepath.Base(round)+".zip")
		files, err := s.ExportContest(ctx, *release, round)
		if err != nil {
			return fmt.Errorf("export %s: %w", round, err)
		}
		packages := 0
		if *problems {
			if packages, err = s.ContestProblems(ctx, round, files); err != nil {
				return fmt.Errorf("export %s: %w", round, err)
			}
		}
		if err := writeWhole(name, clics.Package(files).Write); err != nil {
			return fmt.Errorf("export %s: %w", round, err)
		}
		return c.Say(map[string]any{"round": round, "file": name, "files": len(files), "packages": packages},
			"exported %s to %s, %d files, of them %d packages of problems", round, name, len(files), packages)
	})
}

// writeWhole writes a file, whole or not at all.
func writeWhole(name string, write func(io.Writer) error) (err error) {
	to, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	if err = errors.Join(write(to), to.Close()); err == nil {
		err = os.Rename(to.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(to.Name()))
	}
	return err
}

// checkContest says what is wrong with a contest package.
func checkContest(_ *command.Flags) command.Run {
	return func(_ context.Context, c *command.Call) error {
		p, err := openPackage(c.Args[0])
		if err != nil {
			return err
		}
		return sayFlaws(c, map[string]any{"files": len(p)}, fmt.Sprintf("%d files", len(p)), p.Check())
	}
}

// sayFlaws writes what is wrong with a package, besides what else there is to say; the status is 3 where something is.
func sayFlaws(c *command.Call, about map[string]any, words string, found []clics.Flaw) error {
	if found == nil {
		found = []clics.Flaw{}
	}
	about["findings"] = found
	err := c.Write(about, func(w io.Writer) error {
		for _, f := range found {
			fmt.Fprintf(w, "%s  %s  %s\n", f.File, f.Object, f.Problem)
		}
		_, err := fmt.Fprintf(w, "%s, %d findings\n", words, len(found))
		return err
	})
	if err == nil && len(found) > 0 {
		err = command.Exit(3)
	}
	return err
}

// openPackage reads a contest package: an archive, a folder, or an event feed alone.
func openPackage(name string) (clics.Package, error) {
	about, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if about.IsDir() {
		return readFolder(name)
	}
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var magic [2]byte
	if _, err := io.ReadFull(in, magic[:]); err == nil && string(magic[:]) != "PK" {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		p, err := clics.OfFeed(raw)
		if err != nil {
			return nil, fmt.Errorf("%s is no archive, and no event feed: %w", name, err)
		}
		return p, nil
	}
	p, err := clics.ReadPackage(in, about.Size(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// readFolder packs the files of a folder, so that they are read as those of an archive are.
func readFolder(name string) (clics.Package, error) {
	p := clics.Package{}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		p[path], err = root.ReadFile(path)
		return err
	})
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	if err := p.Write(&packed); err != nil {
		return nil, err
	}
	return clics.ReadPackage(bytes.NewReader(packed.Bytes()), int64(packed.Len()), nil)
}

// importContest brings a contest package to a server.
func importContest(f *command.Flags) command.Run {
	space := f.String("space", "", "the `space` that it comes into; when empty, one of the round's short name, which is made if there is none")
	code := f.String("code", "", "short `name` of the round; as in the package when empty")
	preview := f.Bool("preview", false, "only say what would be imported")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		p, err := openPackage(c.Args[0])
		if err != nil {
			return err
		}
		into, err := spaceOf(p, *space, *code)
		if err != nil {
			return err
		}
		if _, err := s.GetSpace(ctx, into); *space == "" {
			if refused, ok := errors.AsType[*client.Problem](err); ok && refused.Status == http.StatusNotFound {
				if *preview {
					return previewHere(c, p, into, *code)
				}
				_, err = s.PostSpaces(ctx, client.PostSpacesRequest{Slug: into, Title: into})
			}
			if err != nil {
				return fmt.Errorf("space %s: %w", into, err)
			}
		}
		var packed bytes.Buffer
		if err := p.Write(&packed); err != nil {
			return err
		}
		out, err := s.ImportContest(ctx, client.NewContest{Space: into, Code: *code, Preview: *preview}, &packed, int64(packed.Len()))
		if err != nil {
			return fmt.Errorf("import %s: %w", c.Args[0], err)
		}
		if len(out.Findings) > 0 {
			found := make([]clics.Flaw, len(out.Findings))
			for i, v := range out.Findings {
				found[i] = clics.Flaw(v)
			}
			return sayFlaws(c, map[string]any{"imported": false}, "nothing is imported", found)
		}
		for _, note := range out.Notes {
			c.Warn("%s", note)
		}
		for _, p := range out.Packages {
			switch {
			case p.Error != "":
				c.Warn("the package of %s is not taken in: %s", p.Problem, p.Error)
			case p.JobID != 0:
				c.Warn("the package of %s is taken in by job %d", p.Problem, p.JobID)
			}
		}
		done := "imported"
		if *preview {
			done = "would import"
		}
		return c.Say(out, "%s %s into %s: %d problems, %d participants, %d submissions, %d clarifications", done, out.Round, into, out.Problems, out.Participants, out.Submissions, out.Clarifications)
	})
}

// previewHere says what would be imported into a space that there is not: what the package says by itself.
func previewHere(c *command.Call, p clics.Package, space, code string) error {
	read, found := restore.Read(p, restore.Options{Space: space, Code: code, Now: time.Now()})
	if len(found) > 0 {
		return sayFlaws(c, map[string]any{"imported": false}, "nothing would be imported", found)
	}
	for _, note := range read.Notes {
		c.Warn("%s", note)
	}
	past := read.Past
	about := map[string]any{
		"imported": false, "round": past.Round.Code, "space": space, "title": past.Round.Title, "problems": len(past.Problems), "participants": len(past.Participants),
		"submissions": len(past.Submissions), "clarifications": len(past.Clarifications),
	}
	return c.Say(about, "would make the space %s and import %s: %d problems, %d participants, %d submissions, %d clarifications", space, past.Round.Code, len(past.Problems), len(past.Participants),
		len(past.Submissions), len(past.Clarifications))
}

// spaceOf is the short name of the space that a package comes into.
func spaceOf(p clics.Package, space, code string) (string, error) {
	if space != "" {
		return space, nil
	}
	if code == "" {
		var about struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(p["contest.json"], &about); err != nil || about.ID == "" {
			return "", errors.New("the package does not say what the contest is called; name a space with --space")
		}
		code = about.ID
	}
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(code))
	return strings.TrimLeft(slug, "-"), nil
}

// replayContest hands a recorded contest in again.
func replayContest(f *command.Flags) command.Run {
	space := f.String("space", "", "the `space` that it comes into; when empty, one of the round's short name, which is made if there is none")
	code := f.String("code", "", "short `name` of the round; as in the package when empty")
	speed := f.Int("speed", 1, "how much faster than in the record time passes")
	in := f.Duration("in", 10*time.Second, "how long until it begins")
	judged := f.Bool("judge", false, "have workers judge, in the place of the record's verdicts")
	return withDatabase(f, func(ctx context.Context, c *command.Call, db *sql.DB) error {
		p, err := openPackage(c.Args[0])
		if err != nil {
			return err
		}
		if *speed < 1 || *speed > maxSpeed {
			return fmt.Errorf("--speed is from 1 to %d", maxSpeed)
		}
		into, err := spaceOf(p, *space, *code)
		if err != nil {
			return err
		}
		read, found := restore.Read(p, restore.Options{Space: into, Code: *code, Now: time.Now()})
		if len(found) > 0 {
			return sayFlaws(c, map[string]any{"replayed": false}, "nothing is replayed", found)
		}
		round, err := afresh(ctx, db, read, time.Now().Add(*in).Truncate(time.Millisecond), *speed, *judged)
		if err != nil {
			return err
		}
		c.Warn("the round is /rounds/%s; it begins %s", round.Code, round.Start.Local().Format(time.TimeOnly))
		done, err := rehearsal.Run(ctx, db, read, rehearsal.Config{Round: round, Judge: *judged, Tell: func(p rehearsal.Progress) {
			c.Warn("%s: %d handed in, %d judged", clics.RelTime(p.At), p.HandedIn, p.Judged)
		}})
		if err != nil {
			return err
		}
		return c.Say(map[string]any{"round": round.Code, "handed_in": done.HandedIn, "judged": done.Judged}, "%s is replayed: %d handed in, %d judged", round.Code, done.HandedIn, done.Judged)
	})
}

// maxSpeed is how much faster time may pass in a round.
const maxSpeed = 1000

// afresh makes the round in which a contest is handed in again, with its space if there is none.
func afresh(ctx context.Context, db *sql.DB, read *restore.Contest, start time.Time, speed int, judged bool) (*judge.Round, error) {
	known, err := db.Rounds.Known(ctx, read.Slugs())
	if err != nil {
		return nil, err
	}
	if _, err := read.Settle(known, time.Now(), func(string) (bool, error) { return true, nil }); err != nil {
		return nil, err
	}
	past := read.Afresh(start, speed)
	if judged {
		for i, p := range past.Problems {
			if _, there := known[p.Problem]; !there {
				return nil, fmt.Errorf("there is no problem %s to judge by: import its package first", p.Problem)
			}
			past.Problems[i].Make, past.Problems[i].Version = nil, known[p.Problem].Version
		}
	}
	err = db.Site.CreateSpace(ctx, judge.Space{Slug: past.Round.Space, Title: past.Round.Title}, atTheShell)
	if err != nil && !errors.Is(err, sql.ErrExists) {
		return nil, err
	}
	if err := db.Rounds.Import(ctx, past, atTheShell); errors.Is(err, sql.ErrExists) {
		return nil, fmt.Errorf("there is a round %s; give it another name with --code", past.Round.Code)
	} else if err != nil {
		return nil, err
	}
	return db.Rounds.Round(ctx, past.Round.Code)
}
