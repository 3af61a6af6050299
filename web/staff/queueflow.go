package staff

import (
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
func flowPicture(flow []sql.Flow, unfinished int64, v site.Viewer) template.HTML {
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
		when := v.Say("now")
		if ago > 0 {
			when = v.Say("%d minutes ago", ago)
		}
		bars[flowMinutes-1-ago] = chart.Bar{
			Text:  v.Say("%s: %d unfinished; %d came and %d were done with", when, depth, f.Came, f.Went),
			Parts: []chart.Part{{Value: float64(depth), Class: "plain"}},
		}
		depth = max(0, depth-f.Came+f.Went)
	}
	return chart.Chart{
		Title: v.Say("Unfinished jobs"), Sum: v.Say("%d came and %d were done with in an hour", came, went),
		First: v.Say("an hour ago"), Last: v.Say("now"), Bars: bars,
	}.SVG()
}
