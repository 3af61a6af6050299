package solve

import (
	"fmt"
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
func historyPicture(days []sql.Day, now time.Time) template.HTML {
	if len(days) == 0 {
		return ""
	}
	c := chart.Chart{Title: "Submissions by day", Last: "today"}
	byAge := map[int]sql.Day{}
	var all, accepted int64
	for _, d := range days {
		byAge[d.Ago] = d
		all, accepted = all+d.Submitted, accepted+d.Accepted
	}
	c.Sum = fmt.Sprintf("%s in %d days, %d accepted", site.Plural(all, "submission", "submissions"), historyDays, accepted)
	for ago := historyDays - 1; ago >= 0; ago-- {
		d, day := byAge[ago], now.UTC().AddDate(0, 0, -ago).Format("2 Jan")
		if c.First == "" {
			c.First = day
		}
		c.Bars = append(c.Bars, chart.Bar{
			Text:  fmt.Sprintf("%s: %s, %d accepted", day, site.Plural(d.Submitted, "submission", "submissions"), d.Accepted),
			Parts: []chart.Part{{Value: float64(d.Accepted), Class: "good"}, {Value: float64(d.Submitted - d.Accepted), Class: "plain"}},
		})
	}
	return c.SVG()
}

// scoresPicture shows how many authors have which best score: each score by itself, or in ranges if there are too many.
func scoresPicture(best []sql.Best) template.HTML {
	if len(best) == 0 {
		return ""
	}
	top := best[len(best)-1].Score
	c := chart.Chart{Title: "Best scores", First: points(best[0].Score), Last: points(top)}
	var all int64
	ranges := make([]int64, scoreBars)
	for _, b := range best {
		all += b.Authors
		if top > 0 {
			ranges[min(max(int(b.Score/top*scoreBars), 0), scoreBars-1)] += b.Authors
		}
	}
	c.Sum = "of " + site.Plural(all, "author", "authors")
	bar := func(text string, n int64) {
		c.Bars = append(c.Bars, chart.Bar{Text: text + ": " + site.Plural(n, "author", "authors"), Parts: []chart.Part{{Value: float64(n), Class: "plain"}}})
	}
	if len(best) <= 2*scoreBars || top <= 0 {
		for _, b := range best[:min(len(best), 2*scoreBars)] {
			bar(points(b.Score), b.Authors)
		}
		return c.SVG()
	}
	c.First = "0"
	for i, n := range ranges {
		bar(fmt.Sprintf("%s to %s", points(top*float64(i)/scoreBars), points(top*float64(i+1)/scoreBars)), n)
	}
	return c.SVG()
}

func points(score float64) string { return site.PointsText(&score) }

// testsPicture shows the CPU time of each test against the limit; nothing for one test, or without a limit.
func testsPicture(rows []testView) template.HTML {
	if len(rows) < 2 || rows[0].Time.Limit == "" {
		return ""
	}
	slowest := 0
	c := chart.Chart{Title: "Time by test", Top: 100, First: "test " + fmt.Sprint(rows[0].Index), Last: "test " + fmt.Sprint(rows[len(rows)-1].Index)}
	for i, r := range rows {
		if r.Time.Percent > rows[slowest].Time.Percent {
			slowest = i
		}
		c.Bars = append(c.Bars, chart.Bar{Text: r.Title, Parts: []chart.Part{{Value: math.Max(float64(r.Time.Percent), 1), Class: classOf(r.Verdict)}}})
	}
	c.Sum = fmt.Sprintf("the slowest took %s of %s", rows[slowest].Time.Text, rows[slowest].Time.Limit)
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
