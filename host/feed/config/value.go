package config

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"deepoj/host/feed/filter"
	"deepoj/host/feed/wal"
)

// read is a row whose field is what meaning makes of a text.
func read[T any](key, def string, field *T, doc string, meaning func(text string) (T, error)) row {
	return row{key: key, def: def, field: field, doc: doc, set: func(text string) error {
		v, err := meaning(text)
		if err == nil {
			*field = v
		}
		return err
	}}
}

func text(key, def string, field *string, doc string) row {
	return read(key, def, field, doc, func(text string) (string, error) { return text, nil })
}

// file names a file or a folder.
func file(key, def string, field *string, doc string) row {
	return read(key, def, field, doc, func(text string) (string, error) {
		if text == "" {
			return "", nil
		}
		return filepath.Abs(text)
	})
}

// matching is empty by default, or like a pattern, which must says in words.
func matching(key, def string, field *string, pattern, must, doc string) row {
	whole := regexp.MustCompile(`^(?:` + pattern + `)$`)
	return read(key, def, field, doc, func(text string) (string, error) {
		if !whole.MatchString(text) && (text != "" || def != "") {
			return "", errors.New("must be " + must)
		}
		return text, nil
	})
}

func topic(key, def string, field *string, doc string) row {
	return read(key, def, field, doc, func(text string) (string, error) {
		if (!topicPattern.MatchString(text) || text == "." || text == "..") && (text != "" || def != "") {
			return "", errors.New("must be up to 249 letters, digits, dots, _ and -")
		}
		return text, nil
	})
}

func oneOf[T ~string](key string, def T, field *T, doc string, allowed ...T) row {
	return read(key, string(def), field, doc, func(text string) (T, error) {
		at := slices.IndexFunc(allowed, func(a T) bool { return strings.EqualFold(string(a), text) })
		if at < 0 {
			words := []string{}
			for _, a := range allowed {
				if a != "" {
					words = append(words, string(a))
				}
			}
			return "", fmt.Errorf("must be one of %s", strings.Join(words, ", "))
		}
		return allowed[at], nil
	})
}

func truth(key, def string, field *bool, doc string) row {
	return read(key, def, field, doc, func(text string) (bool, error) {
		if text != "true" && text != "false" {
			return false, errors.New("must be one of true, false")
		}
		return text == "true", nil
	})
}

func whole(key, def string, field *int, least, most int, doc string) row {
	return read(key, def, field, doc, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		return n, nil
	})
}

// mostBytes is more than any disk has, and may be multiplied.
const mostBytes = 1 << 50

// size is a number of bytes, or of KiB, MiB, GiB or TiB.
func size(key, def string, field *int64, least int64, doc string) row {
	return read(key, def, field, doc, func(text string) (int64, error) {
		number, unit := text, int64(1)
		for i, name := range []string{"KiB", "MiB", "GiB", "TiB"} {
			if n, ok := strings.CutSuffix(text, name); ok {
				number, unit = strings.TrimSpace(n), 1<<(10*(i+1))
			}
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 || n > mostBytes/unit || n*unit < least {
			return 0, fmt.Errorf("must be a number of bytes of at least %d, or such as 256MiB or 16GiB", least)
		}
		return n * unit, nil
	})
}

// span is a time, in seconds if it has no unit.
func span(key, def string, field *time.Duration, doc string) row {
	return read(key, def, field, doc, func(text string) (time.Duration, error) {
		if _, err := strconv.ParseUint(text, 10, 31); err == nil {
			text += "s"
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return 0, errors.New("must be a positive duration such as 5s")
		}
		return d, nil
	})
}

// list has words that are separated by commas or spaces, each like a pattern.
func list(key, def string, field *[]string, pattern, must, doc string) row {
	whole := regexp.MustCompile(`^(?:` + pattern + `)$`)
	return read(key, def, field, doc, func(text string) (all []string, err error) {
		for _, word := range words(text) {
			switch {
			case !whole.MatchString(word):
				return nil, fmt.Errorf("%q must be %s", word, must)
			case slices.Contains(all, word):
				return nil, fmt.Errorf("%q stands there twice: take one out", word)
			}
			all = append(all, word)
		}
		if len(all) == 0 && def != "" {
			return nil, errors.New("must be at least one of " + must)
		}
		return all, nil
	})
}

func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
}

// listOrAuto is a list, or nil for auto.
func listOrAuto(key string, field *[]string, pattern, must, doc string) row {
	var some []string
	parsed := list(key, "auto", &some, pattern, must, doc)
	return read(key, "auto", field, doc, func(text string) ([]string, error) {
		if text == "auto" {
			return nil, nil
		}
		if slices.Contains(words(text), "auto") {
			return nil, errors.New("must be auto alone, or a list without it")
		}
		if err := parsed.set(text); err != nil {
			return nil, err
		}
		return some, nil
	})
}

// parseRules reads a filter.
func parseRules(text string, rules *filter.Rules) error {
	if strings.TrimSpace(text) == "" {
		*rules = filter.Rules{}
		return nil
	}
	in := yaml.NewDecoder(strings.NewReader(text))
	in.KnownFields(true)
	var got filter.Rules
	if err := in.Decode(&got); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("must have allow and deny, lists of rules with any of db, type, command, key: %w", err)
	}
	*rules = got
	return nil
}

// startAt is where a feed begins of which filenum and offset are told.
func (c *Config) startAt(t raw) error {
	if t.filenum == "" && t.offset == "" {
		return nil
	}
	if c.Start.FromMaster {
		return errors.New("start_from_master=true: filenum and offset name another place to begin at: unset them, or start_from_master")
	}
	if c.Source == PikiwiDB && (t.filenum == "" || t.offset == "") {
		return errors.New("filenum and offset go together: set both, or none")
	}
	if c.Source == Postgres && t.filenum != "" && t.filenum != "0" {
		return fmt.Errorf("filenum=%s: PostgreSQL has no binlog files: unset it, and give the LSN as offset", t.filenum)
	}
	p := wal.Position{}
	if t.filenum != "" {
		n, err := strconv.ParseUint(t.filenum, 10, 32)
		if err != nil {
			return fmt.Errorf("filenum=%s: must be a whole number up to 4294967295", t.filenum)
		}
		p.Filenum = uint32(n)
	}
	if high, low, ok := strings.Cut(t.offset, "/"); ok {
		if c.Source == PikiwiDB {
			return fmt.Errorf("offset=%s: is an LSN of PostgreSQL: give the offset in the binlog file as a number", t.offset)
		}
		h, err1 := strconv.ParseUint(high, 16, 32)
		l, err2 := strconv.ParseUint(low, 16, 32)
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("offset=%s: must be an LSN such as 16/B374D848", t.offset)
		}
		p.Offset = h<<32 | l
	} else {
		n, err := strconv.ParseUint(t.offset, 10, 64)
		if err != nil {
			return fmt.Errorf("offset=%s: must be a whole number up to 18446744073709551615", t.offset)
		}
		p.Offset = n
	}
	c.Start.Given, c.Start.Position = true, p
	return nil
}
