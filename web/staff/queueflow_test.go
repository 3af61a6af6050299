package staff

import (
	"strings"
	"testing"

	"deepoj/sql"
	"deepoj/web/site"
)

func TestThePictureOfTheQueueSaysWhatItShows(t *testing.T) {
	t.Parallel()
	picture := string(flowPicture([]sql.Flow{{Ago: 0, Came: 2}, {Ago: 3, Went: 5}}, 4, site.Viewer{}))
	if got := strings.Count(picture, "<g>"); got != 60 {
		t.Errorf("%d bars, want 60", got)
	}
	for _, text := range []string{"now: 4 unfinished; 2 came", "1 minute ago: 2 unfinished", "4 minutes ago: 7 unfinished", "2 came and 5 were done with in an hour"} {
		if !strings.Contains(picture, text) {
			t.Errorf("it does not say %q: %s", text, picture)
		}
	}
	if quiet := flowPicture(nil, 0, site.Viewer{}); strings.Contains(string(quiet), "<g>") {
		t.Errorf("a quiet hour has the picture %s", quiet)
	}
}
