// Package verbs is the table of the commands of the change feed. The program deepoj-feed does them; deepoj, which holds
// nothing of a feed, shows and completes the same table and becomes deepoj-feed.
package verbs

import (
	"context"

	"deepoj/host/command"
)

// Program is the name of the file that has the feed. It lies in the folder of deepoj.
const Program = "deepoj-feed"

// Group is the word that the commands have before them in deepoj.
const Group = "feed"

// Options are the flags of a call. A command has those that mean something to it; the others are zero.
type Options struct {
	Config      string // path of feed.yaml
	ConfigGiven bool   // whether it was named, and so has to be there
	Data        string // data folder of a `deepoj up`; "" = the settings alone say where the source is
	Listen      string // address of the web side of a demonstration; "" = a free port of this machine
	KafkaPort   int    // of the Kafka of a demonstration, on this machine; 0 = a free one
	Inner       string // address of metrics of the process that a demonstration starts; "" = it is not that process
	Demo        bool   // whether to bring a Kafka, and a Deep-OJ unless one runs on Data
	SQL         bool   // whether to print what an administrator of PostgreSQL runs
	Yes         bool   // whether to go on without a question
}

// Do is what a command does.
type Do func(ctx context.Context, c *command.Call, o Options) error

// Commands are what the commands do.
type Commands struct{ Run, Status, VerifyWAL, Reset Do }

// Table returns the commands with what they do.
func Table(do Commands) []command.Verb {
	return []command.Verb{
		{
			Name: Group, Plain: true, Make: flags(do.Run, everywhere, demonstrates),
			Summary: "Bring everything that happens into Kafka, in order and without a hole.",
			Detail: "It runs until it is told to end. Settings are in feed.yaml, or FEED_… in the environment, which decides. " +
				"The status is 1 when it cannot go on by itself, and the reason is on standard error. " +
				"`deepoj feed status`, `deepoj feed verify-wal` and `deepoj feed reset` look after it.",
		},
		{
			Name: Group + " status", Make: flags(do.Status, everywhere),
			Summary: "Say how far the feed is.",
			Detail:  "A feed that runs with metrics_listen is asked; else the checkpoint and the write-ahead log are read. The status is 0 when the feed runs and nothing is wrong, and else 3.",
		},
		{
			Name: Group + " verify-wal", Args: "[DIR]", Make: flags(do.VerifyWAL, everywhere),
			Summary: "Read every byte of the write-ahead log, or of one in DIR, and name what is damaged.",
			Detail:  "The log may be in use. The status is 3 when something is damaged. Nothing is changed.",
		},
		{
			Name: Group + " reset", Make: flags(do.Reset, everywhere, confirms),
			Summary: "Forget how far the feed is, so that it begins with a new snapshot.",
			Detail:  "It removes the checkpoint, the write-ahead log, snapshots under way, and the replication slot. What is in Kafka stays. It says what it will remove, and asks.",
		},
	}
}

// some are flags that several commands have.
type some func(f *command.Flags, o *Options)

func everywhere(f *command.Flags, o *Options) {
	f.StringVar(&o.Config, "config", "feed.yaml", "YAML `file` of settings, which fills what the environment leaves unset")
	f.StringVar(&o.Data, "data", "", "data `folder` of a Deep-OJ on this machine, whose PostgreSQL is the source and where the feed keeps its files")
}

func demonstrates(f *command.Flags, o *Options) {
	f.BoolVar(&o.Demo, "demo", false, "bring a Kafka of one node within this process, and a Deep-OJ unless one runs on --data; print each event")
	f.IntVar(&o.KafkaPort, "kafka-port", 0, "`port` of that Kafka on this machine (default a free one)")
	f.StringVar(&o.Listen, "listen", "", "`address` of the pages of that Deep-OJ, HOST:PORT (default a free port)")
	f.StringVar(&o.Inner, "demo-inner", "", "`address` of metrics and status of the process that --demo starts")
	f.Internal("demo-inner")
	f.BoolVar(&o.SQL, "sql", false, "print the SQL by which an administrator of PostgreSQL lets a feed in, and end")
}

func confirms(f *command.Flags, o *Options) { f.BoolVar(&o.Yes, "yes", false, "do not ask") }

// flags makes the flags of a command, and what does it.
func flags(do Do, sets ...some) func(*command.Flags) command.Run {
	return func(f *command.Flags) command.Run {
		var o Options
		for _, set := range sets {
			set(f, &o)
		}
		return func(ctx context.Context, c *command.Call) error {
			o.ConfigGiven = f.Given("config")
			return do(ctx, c, o)
		}
	}
}
