package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/blob"
	"deepoj/host/problem"
	"deepoj/sql"
	"deepoj/web/site"
)

// apiImport handles POST /api/v1/problems.
func (s *Server) apiImport(c *fiber.Ctx) error {
	_, receipt, err := s.takeIn(c)
	if err != nil {
		return err
	}
	return acceptedPackage(c, receipt)
}

// acceptedPackage answers with the job that was stored.
func acceptedPackage(c *fiber.Ctx, r sql.Receipt) error {
	c.Set(fiber.HeaderLocation, "/api/v1/jobs/"+strconv.FormatInt(r.JobID, 10))
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"job_id": r.JobID, "url": site.ImportURL(r.JobID), "existing": r.Existing})
}

// export handles GET /api/v1/problems/:slug/package?version=, and the same below
// /packages: the live version, unless another is named, as a ZIP file.
func (s *Server) export(c *fiber.Ctx) error {
	if s.Config.Blobs == nil {
		return site.NoBlobs()
	}
	version := c.Query("version")
	if version == "" {
		p, err := s.ProblemFor(c)
		if err != nil {
			return err
		}
		version = p.Version
	}
	v, err := s.packageVersion(c.UserContext(), c.Params("slug"), version)
	if err != nil {
		return err
	}
	pkg, err := problem.Load(c.UserContext(), s.Config.Blobs, blob.Digest(v.Version))
	if err != nil {
		return fmt.Errorf("export a package: %w", err)
	}
	c.Set(fiber.HeaderContentType, "application/zip")
	c.Attachment(v.Problem + ".zip")
	trace := site.TraceOf(c.UserContext())
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		ctx, cancel := context.WithTimeout(context.Background(), site.PackageTime)
		defer cancel()
		if err := pkg.Export(ctx, w); err != nil { // the archive has no end then, which whoever reads it sees
			s.Log.Error("export of a package broke off", slog.String("trace_id", trace), slog.Any("err", err))
		}
	})
	return nil
}

// apiVersions handles GET /api/v1/problems/:slug/versions.
func (s *Server) apiVersions(c *fiber.Ctx) error {
	versions, err := s.versionsOf(c)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"versions": versions})
}

// apiVersion handles GET /api/v1/problems/:slug/versions/:version.
func (s *Server) apiVersion(c *fiber.Ctx) error {
	v, err := s.packageVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return err
	}
	return c.JSON(v)
}

// apiGoLive handles POST /api/v1/problems/:slug/versions/:version/activate.
func (s *Server) apiGoLive(c *fiber.Ctx) error {
	override := false
	if len(c.Body()) > 0 {
		f, err := site.ReadFields(c, "override")
		if err != nil {
			return err
		}
		if f.Has("override") && json.Unmarshal(f.Raw["override"], &override) != nil {
			f.Wrong.Add(site.WrongField("override", site.ReasonWrong, "The field has to be true or false, not %s.", site.KindOf(f.Raw["override"])))
		}
		if err := f.Wrong.Err(); err != nil {
			return err
		}
	}
	v, err := s.goLive(c.UserContext(), site.ViewerOf(c), c.Params("slug"), c.Params("version"), override)
	if err != nil {
		return err
	}
	v.Report = nil
	return c.JSON(v)
}

// apiProve handles POST /api/v1/problems/:slug/versions/:version/verify.
func (s *Server) apiProve(c *fiber.Ctx) error {
	receipt, err := s.proveAgain(c.UserContext(), site.ViewerOf(c), c.Params("slug"), c.Params("version"), c.Get("Idempotency-Key"), "Idempotency-Key")
	if err != nil {
		return err
	}
	return acceptedPackage(c, receipt)
}

// apiGoBack handles POST /api/v1/problems/:slug/rollback.
func (s *Server) apiGoBack(c *fiber.Ctx) error {
	version, err := s.goBack(c.UserContext(), site.ViewerOf(c), c.Params("slug"))
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"problem": c.Params("slug"), "version": version})
}
