package web

import (
	"html"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"deepoj/host/judge"
)

// cells are the cells of a row of a long list. Each value is work to a template, and
// such a list has hundreds, so its rows are put together here. What comes from
// people is escaped.
type cells struct{ strings.Builder }

// open begins a cell, of a class if there is one.
func (c *cells) open(class string) {
	if class == "" {
		c.WriteString("<td>")
		return
	}
	c.WriteString(`<td class="` + class + `">`)
}

// cell adds a cell whose content is ready.
func (c *cells) cell(class string, content template.HTML) {
	c.open(class)
	c.WriteString(string(content) + "</td>")
}

// text adds a cell of text.
func (c *cells) text(class, text string) { c.cell(class, escape(text)) }

// row returns the cells as a row of a table.
func (c *cells) row() template.HTML { return template.HTML("<tr>" + c.String() + "</tr>") }

// escape makes text safe as the content of an element and as the value of an
// attribute.
func escape(text string) template.HTML { return template.HTML(html.EscapeString(text)) }

// link is a link with a text. Href has to be a path of ours whose parts were escaped.
func link(href, text string) template.HTML {
	return `<a href="` + escape(href) + `">` + escape(text) + "</a>"
}

// small is a remark beside something.
func small(text string) template.HTML {
	if text == "" {
		return ""
	}
	return ` <span class="small muted">` + escape(text) + "</span>"
}

// submissionCells is a submission in the list.
func submissionCells(sub *judge.Submission, staff bool) template.HTML {
	var c cells
	c.cell("num", link(submissionURL(sub.JobID), strconv.FormatInt(sub.JobID, 10)))
	var verdict template.HTML
	if r := sub.Result; r != nil {
		verdict = badge(r.Verdict) + scoreText(r)
	}
	if sub.Result == nil || !sub.Status.Terminal() {
		verdict += ` <span class="state">` + escape(strings.ToLower(sub.Shown())) + "</span>"
	}
	c.cell("", verdict)
	c.cell("", link(problemURL(sub.Space, sub.Problem), sub.Title))
	c.text("wide", sub.Language)
	if staff {
		c.text("", sub.Author)
	}
	used, memory := "", ""
	if r := sub.Result; r != nil && r.Usage.MemoryKiB > 0 {
		used, memory = secondsText(r.Usage.CPUMillis), memoryText(r.Usage.MemoryKiB)
	}
	c.text("num wide", used)
	c.text("num wide", memory)
	c.cell("", moment(sub.Created))
	return c.row()
}

// scoreText is the score of a result, of how much, if it has one.
func scoreText(r *judge.Result) template.HTML {
	if r.Score == nil && r.MaxScore == nil {
		return ""
	}
	text := escape(pointsText(r.Score))
	if r.MaxScore != nil {
		text += `<span class="muted">/` + escape(pointsText(r.MaxScore)) + "</span>"
	}
	return ` <span class="num">` + text + "</span>"
}

// ownCells is an unfinished submission of the viewer's in the queue.
func (r queueRow) ownCells() template.HTML {
	var c cells
	c.cell("num", r.link())
	c.cell("", r.state())
	c.text("", r.Place)
	c.text("", r.ETA)
	c.text("", r.Title)
	c.text("", r.Language)
	c.cell("", moment(r.Since))
	return c.row()
}

// staffCells is an unfinished job in the queue, which staff may choose.
func (r queueRow) staffCells() template.HTML {
	var c cells
	var pick template.HTML
	if number := escape(strconv.FormatInt(r.JobID, 10)); r.State == "R" || r.State == "S" { // its place may be changed
		pick = `<input type="checkbox" name="job" value="` + number + `" aria-label="Job ` + number + `">`
	}
	c.cell("pick", pick)
	c.cell("num", r.link())
	state := r.state()
	if r.Delayed {
		state += small("moved by hand")
	}
	c.cell("", state+small(r.LastError))
	c.text("", r.Place)
	c.text("", r.ETA)
	c.cell("", link("/queue?group="+url.QueryEscape(r.Author), r.Author))
	work := escape(string(r.Kind))
	if r.Title != "" {
		work = escape(r.Title) + ` <span class="muted">` + escape(r.Language) + "</span>"
	}
	c.cell("wide", work)
	lane := `<span title="rank ` + template.HTML(r.Rank.UTC().Format(time.RFC3339)) + `">` + escape(laneText(r.Lane)) + "</span>"
	if r.Priority != 0 {
		lane += escape(", priority " + strconv.Itoa(int(r.Priority)))
	}
	if r.InSet {
		lane += small("rejudge set")
	}
	c.cell("wide", lane)
	c.cell("wide", moment(r.Since))
	worker := escape(r.Worker)
	if r.AttemptID > 0 {
		worker += small("attempt " + strconv.Itoa(int(r.AttemptID)))
	}
	c.cell("wide", worker)
	return c.row()
}

// link is the number of a job, which leads to its page if it has one.
func (r queueRow) link() template.HTML {
	number := strconv.FormatInt(r.JobID, 10)
	if page := pageOfJob(r.JobID, r.Kind); page != "" {
		return link(page, number)
	}
	return escape(number)
}

func (r queueRow) state() template.HTML {
	return `<span class="state">` + escape(strings.ToLower(r.Shown())) + "</span>"
}
