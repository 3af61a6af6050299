package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"deepoj/host/command"
	"deepoj/host/keyring"
	"deepoj/web/client"
)

// defaultServer is where `deepoj up` listens.
const defaultServer = "http://127.0.0.1:8080"

// Where a server is, and as whom it is asked. The token is the older name of the key, for one version.
const (
	variableURL   = "DEEPOJ_URL"
	variableKey   = "DEEPOJ_KEY"
	variableToken = "DEEPOJ_TOKEN"
)

// server is how a command reaches a server: by its address, and as whom.
type server struct{ address, token *string }

func serverFlags(f *command.Flags) server {
	return server{
		f.String("server", "", "`address` of the server; when empty that of "+variableURL+", or of the newest login, or "+defaultServer),
		f.String("token", "", "key, or token of a session; when empty that of "+variableKey+", or of the login at the server"),
	}
}

// at returns the address of the server, and what proves who asks.
func (s server) at(c *command.Call) (address, token string, err error) {
	address = cmp.Or(*s.address, c.Variable(variableURL))
	token = cmp.Or(*s.token, c.Variable(variableKey), c.Variable(variableToken))
	if address == "" || token == "" {
		ring, err := keyring.Open(keyring.File(c.Getenv))
		if err != nil {
			return "", "", err
		}
		address = cmp.Or(address, ring.Default(), defaultServer)
		if written, err := keyring.Address(address); err == nil && token == "" {
			kept, _ := ring.Find(written)
			token = kept.Key
		}
	}
	address, err = keyring.Address(address)
	return address, token, err
}

// serverRun is what a verb does with a server.
type serverRun func(ctx context.Context, c *command.Call, s *client.Client) error

// withServer runs a verb with the client of a server.
func withServer(f *command.Flags, run serverRun) command.Run {
	at := serverFlags(f)
	return func(ctx context.Context, c *command.Call) error {
		address, token, err := at.at(c)
		if err != nil {
			return err
		}
		s, err := client.New(address, client.WithToken(token))
		if err != nil {
			return err
		}
		return remedied(run(ctx, c, s), address, token)
	}
}

// onServer is withServer for a verb without flags of its own.
func onServer(run serverRun) func(*command.Flags) command.Run {
	return func(f *command.Flags) command.Run { return withServer(f, run) }
}

// remedied says what to do about a server that does not answer, or does not know who asks.
func remedied(err error, address, token string) error {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return fmt.Errorf("no server answers at %s (%w): start one with `deepoj up`, or name another by --server, %s or `deepoj login`", address, dial.Err, variableURL)
	}
	if refused, ok := errors.AsType[*client.Problem](err); ok && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden && token == "") {
		return fmt.Errorf("%w `deepoj login %s` keeps a key of that server; %s gives one.", err, address, variableKey) //nolint:revive // sentences, as those of the server
	}
	return err
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
