package site

import (
	"context"
	"html/template"
	"log/slog"
)

// Person names somebody: by the name of the account, which nobody else has, and what people call them, if anything.
func Person(name, called string) template.HTML { return Escape(name) + Called(called) }

// Called is what people call somebody, behind the name of the account. The text around it is not turned by it.
func Called(called string) template.HTML {
	if called == "" {
		return ""
	}
	return ` <bdi class="called">` + Escape(called) + "</bdi>"
}

// Names returns what people call those of the accounts who are called anything. A page does without while the database
// does not tell.
func (s *Site) Names(ctx context.Context, accounts ...string) map[string]string {
	if len(accounts) == 0 {
		return nil
	}
	names, err := s.Store.DisplayNames(ctx, accounts)
	if err != nil {
		s.Log.WarnContext(ctx, "display names are not shown", slog.Any("err", err), slog.String("trace_id", TraceOf(ctx)))
	}
	return names
}
