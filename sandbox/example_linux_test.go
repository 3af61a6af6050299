package sandbox_test

import (
	"context"
	"fmt"
	"os"

	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// sandboxed has f use an agent with room for two programs. The program that is started becomes the agent when it
// is called with its command, by which it calls [oneshot.Inherited] and [oneshot.Serve].
func sandboxed(f func(ctx context.Context, agent *sandbox.Client) error) {
	ctx := context.Background()
	process, err := oneshot.Spawn(ctx, "/proc/self/exe", []string{agentCommand}, sandbox.Config{Slots: 2})
	if err != nil {
		panic(err)
	}
	defer process.Close()
	agent, err := sandbox.Dial(process.Conn())
	if err == nil {
		err = f(ctx, agent)
	}
	if err != nil {
		panic(err) // the platform failed: what a program does is in its result
	}
}

// A program that adds two numbers is compiled in a box, and run there.
func Example() {
	sandboxed(func(ctx context.Context, agent *sandbox.Client) error {
		box, err := agent.Box(ctx)
		if err != nil {
			return err
		}
		defer box.Close()
		source := "#include <stdio.h>\nint main(void) { int a, b; scanf(\"%d%d\", &a, &b); printf(\"%d\\n\", a + b); }\n"
		compiler, err := agent.OpenBox(ctx, sandbox.BoxOptions{Writable: true})
		if err != nil {
			return err
		}
		defer compiler.Close()
		if err := compiler.Put(ctx, sandbox.File{Path: "sum.c", Data: []byte(source)}); err != nil {
			return err
		}
		r, err := compiler.Run(ctx, sandbox.Cmd{Tool: "gcc", Args: []string{"-o", "sum", "sum.c"}})
		if err != nil {
			return err
		}
		fmt.Println("compiled:", r.Verdict)
		made, err := compiler.Collect(ctx, []string{"sum"}, 1<<20)
		if err != nil {
			return err
		}
		if err := box.Put(ctx, made...); err != nil {
			return err
		}
		in, err := file("1 2\n")
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := file("")
		if err != nil {
			return err
		}
		defer out.Close()
		if r, err = box.Run(ctx, sandbox.Cmd{Program: "./sum", Stdin: in, Stdout: out}); err != nil {
			return err
		}
		written := make([]byte, 2)
		_, err = out.ReadAt(written, 0)
		fmt.Printf("ran: %s %s", r.Verdict, written)
		return err
	})
	// Output:
	// compiled: OK
	// ran: OK 3
}

// Two programs talk to each other, each in its own box.
func ExampleRunPair() {
	sandboxed(func(ctx context.Context, agent *sandbox.Client) error {
		asks, err := agent.Box(ctx)
		if err != nil {
			return err
		}
		defer asks.Close()
		answers, err := agent.Box(ctx)
		if err != nil {
			return err
		}
		defer answers.Close()
		r, err := sandbox.RunPair(ctx,
			asks, sandbox.Cmd{Tool: "python3", Args: []string{"-c", "print(6, flush=True); assert input() == '42'"}},
			answers, sandbox.Cmd{Tool: "python3", Args: []string{"-c", "print(int(input()) * 7)"}})
		fmt.Println(r.A.Verdict, r.B.Verdict)
		return err
	})
	// Output: OK OK
}

// file returns an open file that has no name any more.
func file(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "")
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = os.Remove(f.Name())
	}
	return f, err
}
