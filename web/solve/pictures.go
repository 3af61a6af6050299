package solve

import (
	"html/template"
	"math"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/chart"
	"deepoj/web/site"
)

const (
	historyDays = 30
	scoreBars   = 10 // of scores that are too many for one bar each
)

// historyPicture shows how many submissions came on each of the last days; nothing if there were none.
func historyPicture(days []sql.Day, now time.Time, v site.Viewer) template.HTML {
	if len(days) == 0 {
		return ""
	}
	c := chart.Chart{Title: v.Say("Submissions by day"), Last: v.Say("today")}
	byAge := map[int]sql.Day{}
	var all, accepted int64
	for _, d := range days {
		byAge[d.Ago] = d
		all, accepted = all+d.Submitted, accepted+d.Accepted
	}
	c.Sum = v.Say("%d submissions in %d days, %d accepted", all, historyDays, accepted)
	for ago := historyDays - 1; ago >= 0; ago-- {
		d, day := byAge[ago], v.Locale.In(time.UTC).Date(now.UTC().AddDate(0, 0, -ago))
		if c.First == "" {
			c.First = day
		}
		c.Bars = append(c.Bars, chart.Bar{
			Text:  v.Say("%s: %d submissions, %d accepted", day, d.Submitted, d.Accepted),
			Parts: []chart.Part{{Value: float64(d.Accepted), Class: "good"}, {Value: float64(d.Submitted - d.Accepted), Class: "plain"}},
		})
	}
	return c.SVG()
}

// scoresPicture shows how many authors have which best score: each score by itself, or in ranges if there are too many.
func scoresPicture(best []sql.Best, v site.Viewer) template.HTML {
	if len(best) == 0 {
		return ""
	}
	top := best[len(best)-1].Score
	c := chart.Chart{Title: v.Say("Best scores"), First: points(best[0].Score, v), Last: points(top, v)}
	var all int64
	ranges := make([]int64, scoreBars)
	for _, b := range best {
		all += b.Authors
		if top > 0 {
			ranges[min(max(int(b.Score/top*scoreBars), 0), scoreBars-1)] += b.Authors
		}
	}
	c.Sum = v.Say("of %d authors", all)
	bar := func(text string, n int64) {
		c.Bars = append(c.Bars, chart.Bar{Text: v.Say("%s: %d authors", text, n), Parts: []chart.Part{{Value: float64(n), Class: "plain"}}})
	}
	if len(best) <= 2*scoreBars || top <= 0 {
		for _, b := range best[:min(len(best), 2*scoreBars)] {
			bar(points(b.Score, v), b.Authors)
		}
		return c.SVG()
	}
	c.First = "0"
	for i, n := range ranges {
		bar(v.Say("%s to %s", points(top*float64(i)/scoreBars, v), points(top*float64(i+1)/scoreBars, v)), n)
	}
	return c.SVG()
}

func points(score float64, v site.Viewer) string { return v.Locale.Number(score) }

// testsPicture shows the CPU time of each test against the limit; nothing for one test, or without a limit.
func testsPicture(rows []testView, v site.Viewer) template.HTML {
	if len(rows) < 2 || rows[0].Time.Limit == "" {
		return ""
	}
	slowest := 0
	c := chart.Chart{Title: v.Say("Time by test"), Top: 100, First: v.Say("test %d", rows[0].Index), Last: v.Say("test %d", rows[len(rows)-1].Index)}
	for i, r := range rows {
		if r.Time.Percent > rows[slowest].Time.Percent {
			slowest = i
		}
		c.Bars = append(c.Bars, chart.Bar{Text: r.Title, Parts: []chart.Part{{Value: math.Max(float64(r.Time.Percent), 1), Class: classOf(r.Verdict)}}})
	}
	c.Sum = v.Say("the slowest took %s of %s", rows[slowest].Time.Text, rows[slowest].Time.Limit)
	return c.SVG()
}

func classOf(v judge.Verdict) string {
	if v == judge.AC {
		return "good"
	}
	if v == judge.TLE || v == judge.PA {
		return "warn"
	}
	return "bad"
}
