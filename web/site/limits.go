package site

import (
	"math"
	"time"

	"github.com/gofiber/fiber/v2"
)

// RequestTime is how long a request may take before its database calls end.
const RequestTime = 15 * time.Second

// PackageTime is how long a request may take that uploads a package.
const PackageTime = time.Hour

// UploadTime is how long a request may take that uploads a plugin.
const UploadTime = 2 * time.Minute

// MaxUpload bounds a request that uploads a plugin, in bytes: the largest module, and
// the form around it.
const MaxUpload = 24 << 20

// HangUp ends the connection after the answer, which still arrives.
func HangUp(c *fiber.Ctx) {
	c.Context().SetConnectionClose()
	if conn, ok := c.Context().Conn().(interface{ Linger() }); ok {
		conn.Linger()
	}
}

// WholeSeconds rounds up, so that nobody comes too early.
func WholeSeconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
