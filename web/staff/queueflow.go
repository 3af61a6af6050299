package staff

import (
	"fmt"
	"html/template"
	"time"

	"deepoj/sql"
	"deepoj/web/chart"
	"deepoj/web/site"
)

const (
	flowAge     = 15 * time.Second // how long it is believed what came and went in an hour
	flowMinutes = 60
)

// flowPicture shows how many jobs were unfinished in each minute of the last hour:
// what is unfinished now, less what came since, and what went since.
func flowPicture(flow []sql.Flow, unfinished int64) template.HTML {
	byAge := map[int]sql.Flow{}
	var came, went int64
	for _, f := range flow {
		if f.Ago < flowMinutes {
			byAge[f.Ago] = f
			came, went = came+f.Came, went+f.Went
		}
	}
	if came+went+unfinished == 0 {
		return ""
	}
	depth := unfinished
	bars := make([]chart.Bar, flowMinutes)
	for ago := range flowMinutes {
		f := byAge[ago]
		when := "now"
		if ago > 0 {
			when = site.Plural(int64(ago), "minute ago", "minutes ago")
		}
		bars[flowMinutes-1-ago] = chart.Bar{
			Text:  fmt.Sprintf("%s: %d unfinished; %d came and %d were done with", when, depth, f.Came, f.Went),
			Parts: []chart.Part{{Value: float64(depth), Class: "plain"}},
		}
		depth = max(0, depth-f.Came+f.Went)
	}
	return chart.Chart{
		Title: "Unfinished jobs", Sum: fmt.Sprintf("%d came and %d were done with in an hour", came, went),
		First: "an hour ago", Last: "now", Bars: bars,
	}.SVG()
}
