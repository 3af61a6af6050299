// Command deepoj is Deep-OJ: `deepoj up` runs everything on one machine, and api, scheduler and worker run one role each.
//
//	main.go           the table of verbs
//	up.go             the roles, and the hidden command that keeps root
//	connect.go        flags that many verbs share, and how they reach a database
//	bar.go            how far long work is
//	reach.go          how verbs reach a server, and what to do where they do not
//	ask.go            questions at a terminal
//	login.go          keys of servers, kept for who uses the command line
//	submit.go         programs, handed in or tried out
//	submissions.go    what became of them, and the problems of a server
//	server.go         workers, languages and jobs of a server
//	space.go          courses and contests
//	contest.go        rounds
//	contest_package.go contest packages: written, checked, brought to a server, handed in again
//	contest_recount.go boards, counted anew
//	office.go         where staff work
//	office_database.go the database itself
//	office_server.go  a server
//	queue.go          queues and dead letters
//	rejudge.go        sets of submissions that are judged again
//	people.go         accounts and keys
//	webhooks.go       addresses that are told what happens
//	stored.go         invariants, schema, settings, packages and plugins where they are stored
//	problem.go        packages taken in on this machine
//	problem_new.go    a package as a model
//	problem_verify.go packages proved without a server, one or many
//	problem_upload.go packages proved, and statements rendered, by a server
//	problem_server.go what else a server does with a problem
//	print.go          problems and certificates as a PDF
//	plugin_prove.go   a plugin and its contract
//	plugin_run.go     a checker that is asked
//	plugin_module.go  modules, built and taken apart
//	diagnose.go       what this machine lacks, and what protects it
//	capacity.go       what it can judge
//	feed.go           the change feed, which another program does
//	simulate.go       what others could
//	support.go        what whoever helps asks for
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"deepoj/host/command"
	"deepoj/host/plugin"
	"deepoj/host/reading"
	"deepoj/host/restore/reader"
	"deepoj/host/shortcut" // which is `deepoj version`, and `deepoj judge` if there is deepoj-judge
	"deepoj/web/client"
)

func main() {
	if len(os.Args) > 1 && (os.Args[1] == plugin.CompileCommand || os.Args[1] == plugin.WorkerCommand) {
		os.Exit(plugin.Child(os.Args[1:]))
	}
	if len(os.Args) > 1 && os.Args[1] == reading.Command {
		os.Exit(reading.Child(os.Args[1:]))
	}
	if len(os.Args) > 1 && os.Args[1] == reader.Command {
		os.Exit(reader.Child(os.Args[1:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	status := program().Run(ctx, &command.Process{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.LookupEnv}, os.Args[1:])
	stop()
	os.Exit(status)
}

// program is deepoj with all its verbs: dispatch, help, completion and the list in the README come from this table.
func program() *command.Program {
	p := &command.Program{Name: "deepoj", Verbs: []command.Verb{
		{Name: "up", Plain: true, Make: startUp, Summary: "Run everything on this machine."},
		{Name: "api", Plain: true, Make: startAPI, Summary: "Run the web side only."},
		{Name: "scheduler", Plain: true, Make: startScheduler, Summary: "Run the dispatcher and the sweepers only."},
		{Name: "worker", Plain: true, Make: startWorker, Summary: "Judge submissions only."},

		{Name: "login", Args: "[SERVER]", Make: logIn, Summary: "Make a key at a server and keep it for the commands that follow.", Detail: "The password is asked for at a terminal, and else the first line of standard input; the second is a new one, if the first was for once. The key is kept in deepoj/servers.json below $XDG_CONFIG_HOME or ~/.config, which nobody else may read. DEEPOJ_URL and DEEPOJ_KEY go before it."},
		{Name: "logout", Args: "[SERVER]", Make: logOut, Summary: "Revoke the key that is kept of a server, and forget it."},

		{Name: "submit", Args: "FILE...", Make: submit, Summary: "Hand in a program, and with --wait print its verdict.", Detail: "FILE may be - for standard input, with --language. With --wait the status is 0 for AC, 3 for any other verdict, 4 when there is none before --timeout, and 1 when something went wrong."},
		{Name: "run", Args: "FILE...", Make: tryOut, Summary: "Run a program on inputs, which does not count.", Detail: "The status is 0 for AC, 3 for any other verdict, and 1 when something went wrong. With one input the program's output is this command's. Standard input is the program's where it is a file or a pipe and no --input is given; as FILE, - is the program itself."},
		{Name: "submissions", Make: listSubmissions, Summary: "List submissions, newest first."},
		{Name: "status", Args: "JOB...", Make: onServer(showStatus), Summary: "Say how submissions and other jobs stand.", Detail: "The status is the highest that fits: 0 for AC, 1 for a job that was cancelled or given up, 3 for any other verdict, 4 for none yet."},
		{Name: "watch", Args: "JOB", Make: watchJob, Summary: "Tell what happens to a job until it is done, and print how it ended.", Detail: "What happens goes to standard error, the end to standard output; with --json both are lines of JSON on standard output, and the last is the job itself. A connection that is cut is made again, where it was. The status is that of `deepoj status`."},
		{Name: "cancel", Args: "JOB...", Make: cancelJobs, Summary: "End jobs of any kind that are not done."},

		{Name: "problem", Summary: "Import, verify and try problem packages."},
		{Name: "problem new", Args: "[NAME]", Make: newProblem, Summary: "Write a new package that is complete, as a model to be changed."},
		{Name: "problem list", Args: "[WORD...]", Make: listProblems, Summary: "List the problems of a server, or those with all of these words."},
		{Name: "problem import", Args: "[DIR|ZIP...]", Make: importProblems, Summary: "Prove packages and make them the live versions of their problems.", Detail: "The status is 3 if a version is kept and not live, for its proof failed."},
		{Name: "problem upload", Args: "ZIP", Make: uploadProblem, Summary: "Send a package to a server, which proves it.", Detail: "With --wait the status is 0 when the version is proved, 3 when its proof failed or the package is refused, and 1 when something went wrong."},
		{Name: "problem export", Args: "NAME", Make: exportProblem, Summary: "Write a version of a problem of a server to a ZIP file."},
		{Name: "problem verify", Args: "DIR|ZIP", Make: verifyProblem, Summary: "Judge the submissions that a package brings, without a server.", Detail: "The status is 0 when each got a verdict that its place allows, 3 when one did not, and 1 when that cannot be told."},
		{Name: "problem run", Args: "DIR|ZIP FILE...", Make: runProblem, Summary: "Judge one program on a package, test by test, without a server.", Detail: "The status is 0 for AC and 3 for any other verdict."},
		{Name: "problem survey", Args: "DIR|ZIP...", Make: surveyProblems, Summary: "Read and prove many packages, and say what came of each.", Detail: "The status is 0 when all import and are proved, 3 when one is not, and 1 when it was ended before or there is nothing to look at."},
		{Name: "problem render", Args: "[NAME...]", Make: renderProblems, Summary: "Have a server make the pages of statements again.", Detail: "Name problems, or give --all. The status is 3 if a version could not be rendered, which keeps the pages that it has, and 4 if they are not all rendered before --timeout."},
		{Name: "problem print", Args: "[NAME]", Plain: true, Make: printProblems, Summary: "Print a problem, or with --space all problems of a space, as a PDF."},
		{Name: "problem hide", Args: "NAME...", Make: hideProblem(true), Summary: "Hide problems of a server from all but setters and members of a space that is open."},
		{Name: "problem show", Args: "NAME...", Make: hideProblem(false), Summary: "Show problems of a server to everybody."},
		{Name: "problem people", Args: "NAME", Make: peopleOfProblem, Summary: "Say and change who may change a problem besides staff."},
		{Name: "problem quota", Make: showQuota, Summary: "Say what one's packages take on a server, and may take."},
		{Name: "problem tag", Args: "NAME [TAG...]", Make: tagProblem, Summary: "Say and change tags, difficulty, source and author of a problem."},
		{Name: "problem diff", Args: "NAME FROM TO", Make: diffProblem, Summary: "Say how one version of a problem differs from another.", Detail: "The status is 1 if it does."},
		{Name: "problem clone", Args: "NAME NEW", Make: cloneProblem, Summary: "Make a problem of one's own of another.", Detail: "With --wait the status is 3 if it is not proved, and 4 if it is not before --timeout."},

		{Name: "plugin", Summary: "Test, run, build and inspect checkers, interactors and adapters."},
		{Name: "plugin test", Args: "FILE.wasm", Make: provePlugin, Summary: "Prove that a plugin keeps to its contract, also on a problem package.", Detail: "The status is 0 when it conforms, 3 when it does not, and 1 when that cannot be told."},
		{Name: "plugin run", Args: "FILE.wasm INPUT OUTPUT ANSWER [-- ARGS...]", Plain: true, Make: runPlugin, Summary: "Ask a checker about files, and print its answer as JSON on one line.", Detail: "The status is 0 when the output is accepted, 3 for any other verdict, and 1 when there is none."},
		{Name: "plugin build", Args: "FILE...", Make: buildPlugin, Summary: "Compile C, C++ or Go to a plugin in WebAssembly, in the sandbox."},
		{Name: "plugin inspect", Args: "FILE.wasm", Make: inspectPlugin, Summary: "Print the manifest of a plugin, its digest, size, imports, exports, memory and limits.", Detail: "The status is 3 when the module would be refused."},

		{Name: "judge", Args: "[ARGUMENTS...]", Raw: true, Make: judgeOnce, Summary: "Run one command in the sandbox and print one line of JSON (Judge protocol v1)."},

		{Name: "space", Summary: "Make courses and contests, and say who takes part in which problems."},
		{Name: "space list", Make: onServer(listSpaces), Summary: "List the spaces that you may see, newest first."},
		{Name: "space show", Args: "SPACE", Make: onServer(showSpace), Summary: "Show a space with its problems."},
		{Name: "space create", Args: "SPACE", Make: createSpace, Summary: "Make a space of this short name."},
		{Name: "space update", Args: "SPACE", Make: updateSpace, Summary: "Change the settings of a space that are given."},
		{Name: "space delete", Args: "SPACE", Make: onServer(deleteSpace), Summary: "Delete a space that nobody has handed anything in to."},
		{Name: "space scores", Args: "SPACE", Make: onServer(spaceScores), Summary: "List what contestants achieved, the best first."},
		{Name: "space member list", Args: "SPACE", Make: onServer(listMembers), Summary: "List the members of a space by name."},
		{Name: "space member add", Args: "SPACE NAME...", Make: addMembers, Summary: "Give accounts a role in a space."},
		{Name: "space member remove", Args: "SPACE NAME...", Make: onServer(removeMembers), Summary: "Take accounts out of a space."},
		{Name: "space problem list", Args: "SPACE", Make: onServer(listSpaceProblems), Summary: "List the problems of a space in order."},
		{Name: "space problem add", Args: "SPACE PROBLEM", Make: addSpaceProblem, Summary: "Add a problem to a space, or give it another place and points."},
		{Name: "space problem remove", Args: "SPACE PROBLEM", Make: onServer(removeSpaceProblem), Summary: "Take a problem out of a space."},

		{Name: "contest", Summary: "Run rounds, have results stand and recounted, and write, check, import and replay contest packages."},
		{Name: "contest list", Make: listContests, Summary: "List the rounds that you may see, newest first."},
		{Name: "contest show", Args: "ROUND", Make: onServer(showContest), Summary: "Say where a round stands."},
		{Name: "contest start", Args: "ROUND", Make: actOnContest("has begun", (*client.Client).PostRoundStart), Summary: "Have a round begin now."},
		{Name: "contest pause", Args: "ROUND", Make: actOnContest("has no start until its countdown goes on", (*client.Client).PostRoundPause), Summary: "Stop the countdown of a round."},
		{Name: "contest resume", Args: "ROUND", Make: actOnContest("counts down again", (*client.Client).PostRoundResume), Summary: "Let the countdown of a round go on."},
		{Name: "contest extend", Args: "ROUND TIME", Make: extendContest, Summary: "Have a round end later, by a length of time such as 30m."},
		{Name: "contest freeze", Args: "ROUND", Make: actOnContest("is frozen", (*client.Client).PostRoundFreeze), Summary: "Hide what is judged from now on from the public and from other teams."},
		{Name: "contest unfreeze", Args: "ROUND", Make: actOnContest("hides nothing", (*client.Client).PostRoundUnfreeze), Summary: "Show what is hidden while a round goes on."},
		{Name: "contest thaw", Args: "ROUND", Make: actOnContest("hides nothing any more", (*client.Client).PostRoundThaw), Summary: "Show what is hidden after the end, for good."},
		{Name: "contest finalize", Args: "ROUND", Make: finalizeContest, Summary: "Have the result of a round stand, or say what is in the way."},
		{Name: "contest print", Args: "ROUND", Plain: true, Make: printContest, Summary: "Print the problems of a round, or with --certificates its certificates, as a PDF."},
		{Name: "contest export", Args: "ROUND", Make: exportContest, Summary: "Write a round as a contest package of the ICPC, as the server tells you of it."},
		{Name: "contest import", Args: "PACKAGE", Make: importContest, Summary: "Bring a contest that was held elsewhere to a server: a contest package of the ICPC, as an archive or a folder, or an event feed.", Detail: "The status is 3 when something is wrong with the package, and then nothing is imported."},
		{Name: "contest replay", Args: "PACKAGE", Make: replayContest, Summary: "Hand a recorded contest in again at its own times, in a round of its own, with the verdicts of the record or to be judged.", Detail: "It works on the database, and goes on until the contest is over."},
		{Name: "contest recount", Args: "ROUND", Make: onServer(recountContest), Summary: "Count the boards of a round anew, from its log, and compare them with those that the server shows.", Detail: "The status is 0 when they are the same, and 3 when they are not."},
		{Name: "contest check", Args: "PACKAGE", Make: checkContest, Summary: "Say what is wrong with a contest package, and recount its scoreboard.", Detail: "The status is 0 when nothing is wrong, 3 when something is, and 1 when the package cannot be read."},

		{Name: "queue", Summary: "Pause queues, and change the order of what waits."},
		{Name: "queue list", Make: inOffice(listQueues), Summary: "List the queues and how they behave."},
		{Name: "queue set", Args: "QUEUE", Make: setQueue, Summary: "Make or change a queue."},
		{Name: "queue pause", Args: "QUEUE", Make: inOffice(pauseQueue(true)), Summary: "Give no work from a queue."},
		{Name: "queue resume", Args: "QUEUE", Make: inOffice(pauseQueue(false)), Summary: "Give work from a queue again."},
		{Name: "queue release", Args: "JOB...", Make: moves("is first", release), Summary: "Put waiting jobs before all others, the last one first."},
		{Name: "queue immediate", Args: "JOB...", Make: moves("is immediate", immediate), Summary: "Put waiting jobs into the first lane, behind what is in it."},
		{Name: "queue delay", Args: "JOB...", Make: moves("is last", delay), Summary: "Put waiting jobs behind all others of their lane."},
		{Name: "queue move", Args: "JOB BEFORE", Make: inOffice(moveJob), Summary: "Put a waiting job right before another."},
		{Name: "queue delete", Args: "JOB...", Make: moves("is withdrawn", withdraw), Summary: "Withdraw jobs that wait."},
		{Name: "queue undo", Args: "JOB", Make: moves("is where it was", undo), Summary: "Take back the newest release, immediate, delay, move or delete of a job."},

		{Name: "dlq", Summary: "Read, replay and discard dead letters."},
		{Name: "dlq list", Make: listLetters, Summary: "List dead letters, newest first."},
		{Name: "dlq show", Args: "JOB", Make: inOffice(showLetter), Summary: "Show a dead letter and the attempts that led to it."},
		{Name: "dlq replay", Args: "[JOB...]", Make: replayLetters, Summary: "Have dead jobs judged again: these, or all with one reason."},
		{Name: "dlq discard", Args: "JOB...", Make: discardLetters, Summary: "Resolve dead letters without judging again."},

		{Name: "user", Summary: "Make, disable and reset accounts, and read the audit log."},
		{Name: "user list", Make: listUsers, Summary: "List the accounts by name."},
		{Name: "user create", Args: "NAME...", Make: createUsers, Summary: "Make accounts and print their one-time passwords."},
		{Name: "user role", Args: "NAME ROLE", Make: inOffice(setRole), Summary: "Say what a user may do."},
		{Name: "user disable", Args: "NAME...", Make: inOffice(disableUsers(true)), Summary: "Refuse the logins and keys of users, and end all their sessions."},
		{Name: "user enable", Args: "NAME...", Make: inOffice(disableUsers(false)), Summary: "Take the logins and keys of users again."},
		{Name: "user reset", Args: "NAME...", Make: inOffice(resetUsers), Summary: "Give users one-time passwords, and end all their sessions."},
		{Name: "user factors-off", Args: "NAME...", Make: inOffice(takeFactorsOff), Summary: "Take all second factors off accounts, whose owners are told at their next login."},
		{Name: "user log", Make: auditLog, Summary: "List what people with privileges did, newest first."},

		{Name: "workers", Make: onServer(listWorkers), Summary: "List the workers and what they run."},
		{Name: "languages", Make: onServer(listLanguages), Summary: "List the languages with versions and command lines."},

		{Name: "key", Summary: "Make and revoke keys of programs."},
		{Name: "key list", Make: listKeys, Summary: "List the keys of a user, newest first."},
		{Name: "key create", Args: "LABEL", Make: createKey, Summary: "Make a key and print its secret, for DEEPOJ_KEY."},
		{Name: "key revoke", Args: "KEY...", Make: revokeKeys, Summary: "Refuse keys from now on, by their numbers."},

		{Name: "webhook", Summary: "Manage addresses that are told what happens, and read what they were told."},
		{Name: "webhook list", Make: listWebhooks, Summary: "List the webhooks, newest first."},
		{Name: "webhook create", Args: "URL", Make: createWebhook, Summary: "Make a webhook and print the secret that signs its messages."},
		{Name: "webhook log", Args: "WEBHOOK", Make: onStore(webhookLog), Summary: "List what a webhook was told, newest first."},
		{Name: "webhook resend", Args: "WEBHOOK MESSAGE...", Make: onStore(resendMessages), Summary: "Send messages again, by their numbers in the log."},
		{Name: "webhook test", Args: "WEBHOOK...", Make: eachJob("is tried out", tryWebhook), Summary: "Send a message that only tries the address out."},
		{Name: "webhook disable", Args: "WEBHOOK...", Make: eachJob("is disabled", disableWebhook(true)), Summary: "Tell webhooks nothing."},
		{Name: "webhook enable", Args: "WEBHOOK...", Make: eachJob("is enabled", disableWebhook(false)), Summary: "Tell webhooks again."},
		{Name: "webhook delete", Args: "WEBHOOK...", Make: eachJob("is deleted", deleteWebhook), Summary: "Remove webhooks with their logs."},

		{Name: "rejudge", Summary: "Judge submissions again, one by one or as a set."},
		{Name: "rejudge job", Args: "JOB...", Make: inOffice(rejudgeJobs), Summary: "Judge submissions again, each on its own."},
		{Name: "rejudge start", Args: "[JOB...]", Make: startRejudge, Summary: "Judge many submissions again as a set, beside what is shown."},
		{Name: "rejudge list", Make: inOffice(listSets), Summary: "List the sets and their progress, newest first."},
		{Name: "rejudge show", Args: "SET", Make: inOffice(showSet), Summary: "Show a set and what it changes."},
		{Name: "rejudge apply", Args: "SET", Make: resolveSet("is applied", true), Summary: "Show the new verdicts of a set."},
		{Name: "rejudge cancel", Args: "SET", Make: resolveSet("is cancelled", false), Summary: "Stop judging a set, and change nothing."},

		{Name: "audit", Make: inOffice(audit), Summary: "Prove that nothing is lost or doubled.", Detail: "The status is 1 when something is."},
		{Name: "doctor", Make: diagnose, Summary: "Say what this machine lacks and how to mend it.", Detail: "The status is 0 when jobs can be judged, or with --security when nothing that protects this machine is missing."},
		{Name: "bench", Make: measureMachine, Summary: "Measure what this machine can judge.", Detail: "The status is 3 when something could not be measured."},
		{Name: "simulate", Make: simulate, Summary: "Predict waits, and how many workers a load needs."},
		{Name: "support-bundle", Make: supportBundle, Summary: "Collect what whoever helps will ask for, without secrets."},

		{Name: "blob", Summary: "Check stored packages and plugins, or copy them elsewhere."},
		{Name: "blob fsck", Make: checkStored, Summary: "Read every blob where it is stored, and look for every one that the database needs.", Detail: "The status is 1 when one is damaged or missing."},
		{Name: "blob copy", Args: "DIR", Make: copyBlobs, Summary: "Copy a folder of blobs into the store that is configured."},

		{Name: "migrate", Make: onDatabase(migrate), Summary: "Bring the database schema up to date."},
		{Name: "config", Make: printConfig, Summary: "Print every setting with its origin."},
		{Name: "version", Make: printVersion, Summary: "Print the version."},
		{Name: "sandbox agent", Raw: true, Hidden: true, Make: sandboxAgent, Summary: "Be the sandbox agent, which the other commands start."},
	}}
	at := slices.IndexFunc(p.Verbs, func(v command.Verb) bool { return v.Name == "webhook" })
	p.Verbs = slices.Insert(p.Verbs, at, feedCommands()...)
	return p.WithCompletion()
}

func printVersion(*command.Flags) command.Run {
	return func(_ context.Context, c *command.Call) error {
		return c.Say(map[string]string{"version": shortcut.Version}, "deepoj %s", shortcut.Version)
	}
}
