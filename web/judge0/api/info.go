package api

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/judge0"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// version is the version of the interface that clients are told.
const version = "1.13.1"

func (s *Room) about(c *fiber.Ctx) error {
	return c.JSON(fiber.Map{
		"version": version, "homepage": "/", "source_code": "", "maintainer": "Deep-OJ " + s.Config.Version,
	})
}

// languages returns the handler of GET /judge0/languages, or /all.
func (s *Room) languages(archived bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		languages, err := s.known(c.UserContext())
		if err != nil {
			return err
		}
		all := judge0.List(languages, archived)
		out := make([]fiber.Map, len(all))
		for i, l := range all {
			out[i] = fiber.Map{"id": l.ID, "name": l.Name}
			if archived {
				out[i]["is_archived"] = l.IsArchived
			}
		}
		return c.JSON(out)
	}
}

func (s *Room) language(c *fiber.Ctx) error {
	languages, err := s.known(c.UserContext())
	if err != nil {
		return err
	}
	id, err := strconv.Atoi(c.Params("id"))
	l := judge0.Find(languages, id)
	if err != nil || l == nil {
		return refuse(c, fiber.StatusNotFound, "there is no language with id %s", site.Shorten(c.Params("id")))
	}
	return c.JSON(judge0.Describe(l, id))
}

// configInfo handles GET /judge0/config_info.
func (s *Room) configInfo(c *fiber.Ctx) error {
	backlog, err := s.backlog(c.UserContext())
	if err != nil {
		return err
	}
	out := fiber.Map{
		"maintenance_mode": false, "enable_wait_result": true, "enable_compiler_options": true, "allowed_languages_for_compile_options": []string{},
		"enable_command_line_arguments": true, "enable_submission_delete": false, "enable_callbacks": true, "callbacks_max_tries": callbackTries,
		"callbacks_timeout": seconds(s.Config.CallbackPatience), "enable_additional_files": true, "max_queue_size": backlog,
		"enable_batched_submissions": true, "max_submission_batch_size": maxBatch,
		"submission_cache_duration": seconds(0), "use_docs_as_homepage": false, "allow_enable_network": false, "enable_network": false,
		"allow_enable_per_process_and_thread_time_limit": true, "enable_per_process_and_thread_time_limit": false,
		"allow_enable_per_process_and_thread_memory_limit": true, "enable_per_process_and_thread_memory_limit": false,
		"redirect_stderr_to_stdout": false, "max_extract_size": judge0.MaxArchiveBytes >> 10,
	}
	for _, l := range judge0.Limits(s.Config.MaxRun) {
		out[l.Field], out["max_"+l.Field] = l.Shown(l.Default), l.Shown(l.Max)
	}
	return c.JSON(out)
}

// seconds writes a time as clients read it in a field that has decimals.
func seconds(d time.Duration) json.Number { return judge0.Limit{Seconds: true}.Shown(d.Seconds()) }

// backlog returns how many runs may wait. Where there is no bound, it is the largest number that every client reads.
func (s *Room) backlog(ctx context.Context) (int, error) {
	queues, err := s.Store.Queues(ctx)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(queues, func(q judge.Queue) bool { return q.Name == judge.DefaultQueue })
	if i < 0 || queues[i].MaxBacklog == 0 {
		return math.MaxInt32, nil
	}
	return queues[i].MaxBacklog, nil
}

// systemInfo handles GET /judge0/system_info. It tells of the machine that answers; workers are on others.
func (s *Room) systemInfo(c *fiber.Ctx) error {
	out := fiber.Map{"Architecture": runtime.GOARCH, "CPU(s)": strconv.Itoa(runtime.NumCPU())}
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return fmt.Errorf("ask for the size of memory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		var kib int64
		if _, err := fmt.Sscan(value, &kib); err != nil {
			continue
		}
		switch name {
		case "MemTotal":
			out["Mem"] = (*locale.Locale)(nil).Memory(kib)
		case "SwapTotal":
			out["Swap"] = (*locale.Locale)(nil).Memory(kib)
		}
	}
	return c.JSON(out)
}

// workers handles GET /judge0/workers: a line for each queue.
func (s *Room) workers(c *fiber.Ctx) error {
	v := site.ViewerOf(c)
	workers, err := s.Catalog.Live(c.UserContext())
	if !v.Staff() {
		workers, err = s.PublicWorkers(c.UserContext())
	}
	if err != nil {
		return err
	}
	ready, err := s.Depth.Of(v).Read(c.UserContext())
	if err != nil {
		return fmt.Errorf("look at the queue: %w", err)
	}
	slots, busy := 0, 0
	for _, w := range workers {
		slots += w.Slots
		busy += w.Busy
	}
	return c.JSON([]fiber.Map{{
		"queue": judge.DefaultQueue, "size": ready, "available": slots, "idle": max(0, slots-busy), "working": busy, "paused": 0, "failed": 0,
	}})
}
