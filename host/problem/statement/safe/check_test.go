package safe

import (
	"strings"
	"testing"
)

// What a reader that was taken over could send is refused.
func TestCheckKnowsWhatIsNoStatement(t *testing.T) {
	t.Parallel()
	for _, page := range []string{
		`<script>x</script>`, `<p style="color:red">x</p>`, `<p onclick="x">y</p>`, `<a href="javascript:x">y</a>`, `<a href="java&#10;script:x">y</a>`, `<a href="&#106;avascript:x">y</a>`,
		`<img src="http://x.example/">`, `<img src="pictures/../x">`, `<p class="button primary">x</p>`, `<p id="next">x</p>`, `<p>x`, `x</p>`, `<p><b>x</p></b>`, `<svg></svg>`, `<p x=y>z</p>`, `<P>x</P>`,
		`<math><annotation-xml>x</annotation-xml></math>`, `<math href="x"></math>`, `<style>x</style>`, `<a href="//x" target="_top">x</a>`, `a < b`, `<iframe src="x"></iframe>`, `<!-- x -->`, strings.Repeat("<b>", 100) + strings.Repeat("</b>", 100),
	} {
		if err := Check(page); err == nil {
			t.Errorf("%s is taken for a statement", page)
		}
	}
	for _, page := range []string{
		"plain &lt; text", `<p>a <a href="https://x.example/?a=b&amp;c=d">b</a></p>`, `<p><img src="pictures/` + strings.Repeat("a1", 32) + `.png" alt="x" class="w50"></p>`,
		`<math display="block" class="tml-display"><mi>x</mi></math>`, `<p>old <em>[a cat]</em><br></p>`, `<ul><li>x</li></ul>`,
	} {
		if err := Check(page); err != nil {
			t.Errorf("%s: %v", page, err)
		}
	}
}
