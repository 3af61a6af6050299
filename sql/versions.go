package sql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// PinInstead has rounds judge by a version, in the place of one of which nothing was known but what a contest said that was held
// elsewhere, where both say the same.
func (s *Site) PinInstead(ctx context.Context, slug, instead, version string) error {
	if err := s.q.VersionInstead(ctx, s.main, dbsqlc.VersionInsteadParams{Slug: slug, Instead: instead, Version: version}); err != nil {
		return fmt.Errorf("pin version of %s: %w", slug, err)
	}
	return nil
}

// KeepVersion stores a version of a problem without making it live, as what an
// import has made; job 0 is none. The package itself must be in the blob store already.
// Whoever makes the first version owns the problem, if they have an account.
func (s *Site) KeepVersion(ctx context.Context, p judge.Problem, by string, jobID int64) error {
	if p.Slug == "" || p.Version == "" {
		return errors.New("keep version: slug and version are required")
	}
	data, err := pg.Encode(p)
	if err != nil {
		return fmt.Errorf("keep version of %s: %w", p.Slug, err)
	}
	if err = s.q.OwnerClaim(ctx, s.main, dbsqlc.OwnerClaimParams{Slug: p.Slug, Name: by}); err != nil {
		return fmt.Errorf("keep version of %s: %w", p.Slug, err)
	}
	err = s.q.VersionKeep(ctx, s.main, dbsqlc.VersionKeepParams{
		Slug: p.Slug, Version: p.Version, Title: p.Title, Problem: data, CreatedBy: by, JobID: jobID,
	})
	if err != nil {
		return fmt.Errorf("keep version of %s: %w", p.Slug, err)
	}
	return nil
}

// ProveVersion records what the proof of a version found. An older job changes
// nothing; job 0 is none, and its proof is of this moment.
func (s *Site) ProveVersion(ctx context.Context, slug, version string, proved bool, report json.RawMessage, jobID int64) error {
	err := s.q.VersionProve(ctx, s.main, dbsqlc.VersionProveParams{Proved: proved, Report: report, JobID: jobID, Slug: slug, Version: version})
	if err != nil {
		return fmt.Errorf("record the proof of %s: %w", slug, err)
	}
	return nil
}

// ProblemVersion returns a version of a problem with its report, or [ErrNotFound].
func (s *Site) ProblemVersion(ctx context.Context, slug, version string) (*judge.ProblemVersion, error) {
	v, err := s.q.VersionGet(ctx, s.main, dbsqlc.VersionGetParams{Slug: slug, Version: version})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("version %s of %s: %w", version, slug, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("version %s of %s: %w", version, slug, err)
	}
	return &judge.ProblemVersion{
		Problem: v.Slug, Version: v.Version, Title: v.Title, Proved: v.Proved, Live: v.Live, ImportJob: v.ImportJob, ProofJob: v.ProofJob,
		By: v.CreatedBy, Created: v.CreatedAt, Report: v.Report,
	}, nil
}

// VersionOfImport returns the version that an import has made already, or "".
func (s *Site) VersionOfImport(ctx context.Context, jobID int64) (string, error) {
	v, err := s.q.VersionOfImport(ctx, s.main, jobID)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("version of import %d: %w", jobID, err)
	}
	return v, nil
}

// ProblemVersions returns the versions of all problems by short name, the newest
// of a problem first, without reports. An empty slug does not restrict.
func (s *Site) ProblemVersions(ctx context.Context, slug string) ([]judge.ProblemVersion, error) {
	found, err := s.q.VersionList(ctx, s.main, slug)
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	out := make([]judge.ProblemVersion, len(found))
	for i, v := range found {
		out[i] = judge.ProblemVersion{
			Problem: v.Slug, Version: v.Version, Title: v.Title, Proved: v.Proved, Live: v.Live, ImportJob: v.ImportJob, ProofJob: v.ProofJob,
			By: v.CreatedBy, Created: v.CreatedAt,
		}
	}
	return out, nil
}

// Activation says which version of a problem goes live.
type Activation struct {
	Problem, Version string
	By               string // user name
	JobID            int64  // of the job that asks for it, which can do so once; 0 = a person

	// Override makes a version live whose proof failed or is missing. It is noted as such.
	Override bool
}

// ActivateVersion makes a version live, from the next claim on, and notes it. A
// version that is not proved is a [*judge.FieldError], unless that is overridden.
func (s *Site) ActivateVersion(ctx context.Context, a Activation) error {
	v, err := s.ProblemVersion(ctx, a.Problem, a.Version)
	if err != nil {
		return err
	}
	proved := v.Proved != nil && *v.Proved
	if !proved && !a.Override {
		return notProved()
	}
	action := "activate"
	if !proved {
		action = "activate_unproved"
	}
	return s.activate(ctx, a, !proved, action)
}

func notProved() error {
	return judge.Wrong("version", "not_proved", "mend what its report says and import it again, or have staff override it")
}

func (s *Site) activate(ctx context.Context, a Activation, unproved bool, action string) error {
	_, err := s.q.VersionActivate(ctx, s.main, dbsqlc.VersionActivateParams{
		Slug: a.Problem, Version: a.Version, Unproved: unproved, JobID: a.JobID, By: a.By, Action: action,
	})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("activate version %s of %s: %w", a.Version, a.Problem, err)
	}
	return nil
}

// RollBackProblem undoes the newest change of which version of a problem is live, and returns the version that is live
// now. A version that was live before a proof was asked for may come back; one whose proof failed is a
// [*judge.FieldError], unless that is overridden. [ErrNotFound] says that there is nothing to go back to.
func (s *Site) RollBackProblem(ctx context.Context, slug, by string, override bool) (version string, err error) {
	changes, err := s.ProblemChanges(ctx, slug, 1)
	if err != nil {
		return "", err
	}
	if len(changes) == 0 || changes[0].Previous == "" {
		return "", fmt.Errorf("roll back %s: no earlier version was live: %w", slug, ErrNotFound)
	}
	a := Activation{Problem: slug, Version: changes[0].Previous, By: by}
	v, err := s.ProblemVersion(ctx, slug, a.Version)
	if err != nil {
		return "", err
	}
	if v.Proved != nil && !*v.Proved && !override {
		return "", notProved()
	}
	return a.Version, s.activate(ctx, a, true, "roll_back")
}

// ProblemChanges returns which versions of a problem were live, the newest change first.
func (s *Site) ProblemChanges(ctx context.Context, slug string, limit int) ([]judge.ProblemChange, error) {
	found, err := s.q.ProblemChanges(ctx, s.main, dbsqlc.ProblemChangesParams{Slug: slug, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("changes of %s: %w", slug, err)
	}
	out := make([]judge.ProblemChange, len(found))
	for i, c := range found {
		out[i] = judge.ProblemChange{Version: c.Version, Previous: c.Previous, By: c.By, At: c.At}
	}
	return out, nil
}

// SaveProblem stores a version of a problem and makes it the active one. Saving
// a version again only activates it and refreshes its view.
func (s *Site) SaveProblem(ctx context.Context, p judge.Problem, by string) error {
	if p.Slug == "" || p.Version == "" {
		return errors.New("save problem: slug and version are required")
	}
	p.Hidden = false // which is said of the problem and not of a version
	data, err := pg.Encode(p)
	if err != nil {
		return fmt.Errorf("save problem %s: %w", p.Slug, err)
	}
	err = s.q.ProblemSave(ctx, s.main, dbsqlc.ProblemSaveParams{Slug: p.Slug, Version: p.Version, Title: p.Title, Problem: data, CreatedBy: by})
	if err != nil {
		return fmt.Errorf("save problem %s: %w", p.Slug, err)
	}
	return nil
}

// Problem returns the active version of a problem, or [ErrNotFound].
func (s *Site) Problem(ctx context.Context, slug string) (*judge.Problem, error) {
	v, err := s.q.ProblemGet(ctx, s.main, slug)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("problem %s: %w", slug, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("problem %s: %w", slug, err)
	}
	p, err := problem(v.Problem, v.UpdatedAt, v.Hidden)
	return &p, err
}

// Problems returns the active versions of all problems by short name, without their statements and samples.
func (s *Site) Problems(ctx context.Context) ([]judge.Problem, error) {
	found, err := s.q.ProblemList(ctx, s.main)
	if err != nil {
		return nil, fmt.Errorf("list problems: %w", err)
	}
	out := make([]judge.Problem, len(found))
	for i, v := range found {
		if out[i], err = problem(v.Problem, v.UpdatedAt, v.Hidden); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func problem(data []byte, updated time.Time, hidden bool) (p judge.Problem, err error) {
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("read problem: %w", err)
	}
	p.Updated, p.Hidden = updated, hidden
	return p, nil
}
