package event

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var source = Source{ID: "10.0.0.1:9221", Host: "10.0.0.1", Port: 9221}

func words(all ...string) (argv [][]byte) {
	for _, w := range all {
		argv = append(argv, []byte(w))
	}
	return argv
}

func TestEventsAreTheContract(t *testing.T) {
	t.Parallel()
	e := &Encoder{Source: source, Encoding: Auto, RawResp: true}
	set := &Command{Epoch: 11, DB: "db0", Type: "string", Key: []byte("k"), Argv: words("pksetexat", "k", "1795251979", "v"), TimeMS: 1795251969000}
	judge, err := e.AppendJudge(nil, &Judge{
		Epoch: 3, Type: "finished", LSN: 0x16_B374D848, Index: 7, Submission: 42, Generation: 3, Attempt: 2, Seq: 9,
		At: time.Date(2026, 11, 24, 19, 0, 0, 5000, time.FixedZone("", 3600)), Audience: "staff", Body: []byte(`{"verdict": "AC"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	before, err := e.AppendJudge(nil, &Judge{Type: "submitted", Submission: 3, Seq: 5, Snapshot: 5, At: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	const from = `"source_id":"10.0.0.1:9221","source":{"host":"10.0.0.1","port":9221},"epoch":`
	for name, tt := range map[string]struct {
		got  []byte
		want string
	}{
		"of the binlog": {
			e.AppendBinlog(nil, set, Binlog{Filenum: 267, Offset: 45044585, LogicID: 5, ServerID: 1, TermID: 2, ExecTime: 1795251969}),
			`{"event_type":"binlog","op":"pksetexat","data_type":"string","db":"db0","slot":0,"key":"k","args_encoding":"utf8","args":["k","1795251979","v"],` +
				`"raw_resp":"*4\r\n$5\r\nsetex\r\n$1\r\nk\r\n$2\r\n10\r\n$1\r\nv\r\n","ts_ms":1795251969000,"event_id":"2:267:45044585:5",` + from + `11,` +
				`"binlog":{"filenum":267,"offset":45044585,"logic_id":5,"server_id":1,"term_id":2}}`,
		},
		"of a snapshot": {
			(&Encoder{Source: source}).AppendSnapshot(nil, &Command{Epoch: 1, DB: "db0", Type: "hash", Key: []byte("h"), Argv: words("HMSET", "h", "f", "\xff"), TimeMS: 5}, -1),
			`{"event_type":"snapshot","op":"hmset","data_type":"hash","db":"db0","slot":0,"key":"h","args_encoding":"base64","args":["aA==","Zg==","/w=="],` +
				`"ts_ms":5,"event_id":"snapshot:db0:hash:h",` + from + `1}`,
		},
		"of a part": {
			(&Encoder{Source: source, Encoding: UTF8}).AppendSnapshot(nil, &Command{DB: "db0", Type: "set", Key: []byte("\xff"), Argv: words("SADD", "\xff", "m")}, 3),
			`{"event_type":"snapshot","op":"sadd","data_type":"set","db":"db0","slot":0,"key":"/w==","key_encoding":"base64","args_encoding":"utf8",` +
				"\"args\":[\"\ufffd\",\"m\"]," + `"ts_ms":0,"event_id":"snapshot:db0:set:/w==:3",` + from + `0}`,
		},
		"that marks": {
			e.AppendMarker(nil, SnapshotBegin, "db0", 4, 6),
			`{"event_type":"snapshot_begin","db":"db0","ts_ms":6,"event_id":"snapshot_begin:db0:4",` + from + `4}`,
		},
		"of a judge": {judge, `{"event_type":"finished","event_id":"16/B374D848:7","submission":42,"generation":3,"attempt":2,"seq":9,"at":"2026-11-24T18:00:00.000005Z",` +
			`"audience":"staff","body":{"verdict": "AC"},` + from + `3}`},
		"of a judge before": {before, `{"event_type":"submitted","event_id":"snapshot:3:5","submission":3,"generation":0,"attempt":0,"seq":5,"at":"1970-01-01T00:00:00Z","body":{},` + from + `0}`},
		"as a key":          {AppendKey(nil, "db0", "hash", []byte("a:\xff")), "db0:hash:a:\xff"},
	} {
		if string(tt.got) != tt.want {
			t.Errorf("an event %s is\n%s, want\n%s", name, tt.got, tt.want)
		}
		if name != "as a key" && !json.Valid(tt.got) {
			t.Errorf("an event %s is no JSON", name)
		}
	}
}

func TestABodyThatIsNoJSONIsRefusedAndAnyOtherIsOneLine(t *testing.T) {
	t.Parallel()
	e := &Encoder{Source: source}
	for _, body := range []string{"{", "{}}", `{"a":1}{"b":2}`, "\xff", `"` + "\n" + `"`} {
		if got, err := e.AppendJudge([]byte("before"), &Judge{Body: []byte(body)}); err == nil || string(got) != "before" {
			t.Errorf("%q becomes %q, %v", body, got, err)
		}
	}
	for _, end := range []string{"\r", "\n"} {
		got, err := e.AppendJudge([]byte("before"), &Judge{Body: []byte("{" + end + " \"a\": [1," + end + "2]}")})
		if err != nil || bytes.ContainsAny(got, "\r\n") || !bytes.Contains(got, []byte(`"body":{"a":[1,2]},`)) || !bytes.HasPrefix(got, []byte(`before{"event_type":"`)) {
			t.Errorf("a body of lines becomes %q, %v", got, err)
		}
	}
}

func TestLSNsArePrintedAsPostgreSQLDoes(t *testing.T) {
	t.Parallel()
	for _, lsn := range []uint64{0, 1, 0xf, 0x10, 0xffffffff, 1 << 32, 0x16_B374D848, 0xABCDEF01_00000000, math.MaxUint64} {
		if got, want := string(AppendLSN(nil, lsn)), fmt.Sprintf("%X/%X", lsn>>32, uint32(lsn)); got != want {
			t.Errorf("%#x is %s, want %s", lsn, got, want)
		}
	}
}

func TestACommandThatOnlyPikiwiDBKnowsBecomesOneOfRedis(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		argv [][]byte
		want string
	}{
		"with an end":             {words("pksetexat", "k", "1010", "v"), "setex k 10 v"},
		"in capitals":             {words("PKSETEXAT", "k", "1001", "v"), "setex k 1 v"},
		"that has ended":          {words("pksetexat", "k", "1000", "v"), "setex k 1 v"},
		"without an end":          {words("pksetexat", "k", "0", "v"), "set k v"},
		"with an end of zeros":    {words("pksetexat", "k", "000", "v"), "set k v"},
		"with an end that is not": {words("pksetexat", "k", "soon", "v"), "pksetexat k soon v"},
		"with a negative end":     {words("pksetexat", "k", "-1", "v"), "pksetexat k -1 v"},
		"with too little":         {words("pksetexat", "k", "0"), "pksetexat k 0"},
		"another command":         {words("set", "k", "v"), "set k v"},
		"nothing":                 {nil, ""},
	} {
		want := string(appendArray(nil, words(strings.Fields(tt.want)...)))
		if got := string(AppendResp(nil, tt.argv, 1000)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := string(AppendResp(nil, words("a", "\r\n\x00"), 0)); got != "*2\r\n$1\r\na\r\n$3\r\n\r\n\x00\r\n" {
		t.Errorf("%q", got)
	}
}

func TestACommandTellsTheTypeOfItsKey(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"set": "string", "PKSETEXAT": "string", "RPOP": "list", "hMSet": "hash", "sadd": "set", "zadd": "zset", "xadd": "stream",
		"del": Generic, "expireat": Generic, "": Generic, strings.Repeat("x", 100): Generic,
	} {
		if got := TypeOf([]byte(command)); got != want {
			t.Errorf("%s is of type %s, want %s", command, got, want)
		}
	}
	for _, name := range Types() {
		if commands[name] == "" {
			t.Errorf("no command is of type %s", name)
		}
	}
	if len(commands) != len(Types()) {
		t.Error("commands are of types that there are not")
	}
}

// FuzzEvents compares what is written with what encoding/json reads of it.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("db0"), []byte("key"), []byte("SET"), []byte("value"), uint64(7), 0)
	f.Add([]byte("\"\\\n"), []byte("\xff\xfe"), []byte("\x00\x1f"), []byte("\u2028é\xc3"), uint64(1)<<63, 1)
	f.Add([]byte("\ufffd"), []byte("\ufffd"), []byte("del"), []byte("\ufffdx"), uint64(1), 0)
	f.Add([]byte("d"), []byte("a"), []byte("\x7f"), []byte("\xed\xa0\x80\xf4\x90\x80\x80"), uint64(0), 2)
	f.Fuzz(func(t *testing.T, db, key, op, arg []byte, n uint64, which int) {
		e := &Encoder{Source: Source{ID: string(db), Host: string(op), Port: int(uint16(n))}, Encoding: []Encoding{UTF8, Base64, Auto}[uint(which)%3], RawResp: true}
		argv := [][]byte{op, key, arg}
		c := &Command{Epoch: uint32(n), DB: string(db), Type: string(op), Key: key, Argv: argv, TimeMS: int64(n)}
		line := e.AppendBinlog([]byte("before"), c, Binlog{Filenum: uint32(n), Offset: n, LogicID: n + 1, ServerID: 3, TermID: uint32(n >> 3), ExecTime: uint32(n)})
		var got struct {
			EventType    string `json:"event_type"`
			Op           string
			DataType     string `json:"data_type"`
			DB           string
			Slot         *int
			Key          string
			KeyEncoding  string   `json:"key_encoding"`
			ArgsEncoding string   `json:"args_encoding"`
			Args         []string `json:"args"`
			RawResp      string   `json:"raw_resp"`
			TSMS         int64    `json:"ts_ms"`
			EventID      string   `json:"event_id"`
			SourceID     string   `json:"source_id"`
			Source       struct {
				Host string
				Port int
			}
			Epoch  uint32
			Binlog map[string]uint64
		}
		in := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(line, []byte("before"))))
		in.DisallowUnknownFields()
		if err := in.Decode(&got); err != nil || in.More() || bytes.ContainsAny(line, "\n\r") || !utf8.Valid(line) {
			t.Fatalf("%q: %v", line, err)
		}
		text := func(b []byte) string { // as encoding/json has it
			quoted, err := json.Marshal(string(b))
			if err != nil {
				t.Fatal(err)
			}
			var s string
			if err := json.Unmarshal(quoted, &s); err != nil {
				t.Fatal(err)
			}
			return s
		}
		back := func(s, encoding string) []byte {
			if encoding != "base64" {
				return []byte(s)
			}
			b, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		if want := text(db); got.DB != want || got.SourceID != want || got.Source.Host != text(op) || got.DataType != text(op) || got.Op != text(bytes.ToLower(op)) {
			t.Fatalf("%q of %q, %q", line, db, op)
		}
		if !bytes.Equal(back(got.Key, got.KeyEncoding), key) || (got.KeyEncoding == "") != utf8.Valid(key) {
			t.Fatalf("%q: the key is %q", line, key)
		}
		lossless := utf8.Valid(op) && utf8.Valid(key) && utf8.Valid(arg)
		if want := e.Encoding == Base64 || e.Encoding == Auto && !lossless; (got.ArgsEncoding == "base64") != want || len(got.Args) != 2 {
			t.Fatalf("%q: in base64: want %t", line, want)
		}
		for i, a := range argv[1:] {
			want := a
			if got.ArgsEncoding == "utf8" {
				want = []byte(text(a))
			}
			if !bytes.Equal(back(got.Args[i], got.ArgsEncoding), want) {
				t.Fatalf("%q: argument %d is %q", line, i, a)
			}
		}
		if resp := AppendResp(nil, argv, uint32(n)); got.ArgsEncoding == "base64" && !bytes.Equal(back(got.RawResp, "base64"), resp) || got.ArgsEncoding == "utf8" && got.RawResp != text(resp) {
			t.Fatalf("%q: the command is %q", line, resp)
		}
		if got.EventType != "binlog" || got.Slot == nil || *got.Slot != 0 || got.TSMS != int64(n) || got.Epoch != uint32(n) || got.Source.Port != int(uint16(n)) ||
			got.EventID != fmt.Sprintf("%d:%d:%d:%d", uint32(n>>3), uint32(n), n, n+1) {
			t.Fatalf("%q of %d", line, n)
		}
		if b := got.Binlog; b["filenum"] != uint64(uint32(n)) || b["offset"] != n || b["logic_id"] != n+1 || b["server_id"] != 3 || b["term_id"] != uint64(uint32(n>>3)) || len(b) != 5 {
			t.Fatalf("%q of %d", line, n)
		}
		if j, err := e.AppendJudge(nil, &Judge{Type: string(op), Audience: string(db), Body: arg, At: time.Unix(0, 0)}); (err == nil) != (len(arg) == 0 || json.Valid(arg)) ||
			err == nil && (!json.Valid(j) || bytes.ContainsAny(j, "\n\r")) {
			t.Fatalf("of a judge: %q, %v", j, err)
		}
		for _, other := range [][]byte{e.AppendSnapshot(nil, c, which), e.AppendMarker(nil, SnapshotEnd, string(db), uint32(n), 1)} {
			if !json.Valid(other) {
				t.Fatalf("%q is no JSON", other)
			}
		}
	})
}

// BenchmarkEvents writes events of the binlog, beside encoding/json.
func BenchmarkEvents(b *testing.B) {
	e := &Encoder{Source: source, Encoding: Auto}
	c := &Command{
		Epoch: 11, DB: "db0", Type: "hash", Key: []byte("user:1000"), TimeMS: 1795251969000,
		Argv: words("hmset", "user:1000", "name", "Ada Lovelace", "mail", "ada@example.org", "bio", strings.Repeat("lorem ipsum ", 10)),
	}
	at := Binlog{Filenum: 267, Offset: 45044585, LogicID: 5, ServerID: 1}
	b.Run("own", func(b *testing.B) {
		b.ReportAllocs()
		var dst []byte
		for b.Loop() {
			dst = e.AppendBinlog(dst[:0], c, at)
		}
		b.SetBytes(int64(len(dst)))
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			args := []string{}
			for _, a := range c.Argv[1:] {
				args = append(args, string(a))
			}
			if _, err := json.Marshal(map[string]any{
				"event_type": "binlog", "op": string(c.Argv[0]), "data_type": c.Type, "db": c.DB, "slot": 0, "key": string(c.Key),
				"args_encoding": "utf8", "args": args, "ts_ms": c.TimeMS, "event_id": fmt.Sprintf("%d:%d:%d:%d", at.TermID, at.Filenum, at.Offset, at.LogicID),
				"source_id": e.Source.ID, "source": map[string]any{"host": e.Source.Host, "port": e.Source.Port}, "epoch": c.Epoch,
				"binlog": map[string]any{"filenum": at.Filenum, "offset": at.Offset, "logic_id": at.LogicID, "server_id": at.ServerID, "term_id": at.TermID},
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
