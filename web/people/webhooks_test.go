package people

import (
	"encoding/base64"
	"testing"
)

func TestSignaturesAreThoseOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") // the example of its libraries
	if err != nil {
		t.Fatal(err)
	}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got := sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", `{"test": 2432232314}`); got != want {
		t.Errorf("signed %s, want %s", got, want)
	}
}

func TestRowsOfBeforeTellNoNamesFromOneAnother(t *testing.T) {
	t.Parallel()
	if toldReason("private_address") != toldReason("no_such_host") {
		t.Error("rows of before tell names from one another")
	}
}
