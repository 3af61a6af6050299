package wal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Report is what [Verify] found.
type Report struct {
	Segments, Records int
	Bytes             int64
	First             uint64         // number of the first record
	Last              Point          // the end of the last record that is right
	Torn              *DamageError   // the end of the newest file, where a write was cut short or is under way
	Faults            []*DamageError // what is not as it was written
}

// Verify reads every byte of the log in dir, which may be in use. Its error is about reading; what is wrong with the
// content is in the report.
func Verify(ctx context.Context, dir string) (Report, error) {
	var rep Report
	all, err := segments(dir)
	if err != nil {
		if damage, ok := errors.AsType[*DamageError](err); ok {
			rep.Faults = append(rep.Faults, damage)
			return rep, nil
		}
		return rep, err
	}
	for i, s := range all {
		if err := ctx.Err(); err != nil {
			return rep, err
		}
		if err := rep.add(s, i == len(all)-1); err != nil {
			return rep, err
		}
	}
	return rep, nil
}

// add adds what s has.
func (rep *Report) add(s *segment, newest bool) error {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was cleaned away meanwhile
	}
	if err != nil {
		return fmt.Errorf("wal_dir: %w", err)
	}
	defer f.Close()
	rep.Segments++
	rep.Bytes += s.size
	if err := s.peek(); err != nil {
		damage, ok := errors.AsType[*DamageError](err)
		if !ok {
			return err
		}
		rep.Faults = append(rep.Faults, damage)
		return nil
	}
	got, err := s.scan(f, nil)
	if err != nil {
		return err
	}
	rep.Records += got.records
	if got.records > 0 {
		if rep.First == 0 {
			rep.First = got.first
		} else if got.first != rep.Last.Seq+1 {
			rep.Faults = append(rep.Faults, &DamageError{s.path, 0, fmt.Sprintf("record %d follows record %d", got.first, rep.Last.Seq)})
		}
		rep.Last = got.end
	}
	if got.wrong == "" {
		return nil
	}
	damage := &DamageError{s.path, got.end.Offset, got.wrong}
	short := false
	if newest {
		if short, err = torn(f, got.end, s.size); err != nil {
			return err
		}
	}
	if short {
		rep.Torn = damage
	} else {
		rep.Faults = append(rep.Faults, damage)
	}
	return nil
}
