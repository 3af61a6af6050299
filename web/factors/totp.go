package factors

import (
	"errors"
	"fmt"
	"html/template"
	"strings"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"
	"github.com/gofiber/fiber/v2"

	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// Words are what the templates of this room call.
var Words = template.FuncMap{
	"otpauth": func(address string) template.URL { return template.URL(address) }, // of a scheme that templates do not know
}

// totpView is the page where an authenticator app is set up.
type totpView struct {
	Secret  string // as it is typed, in groups
	Address string // as apps open it
	Picture picture
	Fault   *site.Fault
}

// picture is a QR code: a path of squares, in a square of so many with a quiet margin.
type picture struct {
	Side int
	Path string
}

// quiet is the margin that scanners need around a QR code, in squares.
const quiet = 4

// drawn makes the picture of a text.
func drawn(text string) (picture, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return picture{}, fmt.Errorf("draw a QR code: %w", err)
	}
	return picture{code.Bounds().Dx() + 2*quiet, squares(code)}, nil
}

// squares is a path of one rectangle for each row of dark squares.
func squares(code barcode.Barcode) string {
	var path strings.Builder
	dark := func(x, y int) bool {
		if x >= code.Bounds().Dx() {
			return false
		}
		r, _, _, _ := code.At(x, y).RGBA()
		return r == 0
	}
	for y := range code.Bounds().Dy() {
		for x := 0; x < code.Bounds().Dx(); x++ {
			from := x
			for dark(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	return path.String()
}

// beginTOTP handles POST /account/totp: it shows a secret that counts when a code of it was given.
func (s *Room) beginTOTP(c *fiber.Ctx) error { return s.showTOTP(c, fiber.StatusOK, nil) }

// showTOTP shows the secret that waits, which is fresh where there is none.
func (s *Room) showTOTP(c *fiber.Ctx, status int, fault *site.Fault) error {
	if err := s.mayHaveFactors(c); err != nil {
		return err
	}
	v := site.ViewerOf(c)
	secret, err := s.Store.BeginTOTP(c.UserContext(), v.Name, people.NewTOTPSecret(), newHandle())
	if errors.Is(err, sql.ErrExists) {
		return site.Refuse(fiber.StatusConflict, "factor_exists", "You have an authenticator app already.", "Remove it first; recovery codes and passkeys stay.")
	}
	if err != nil {
		return err
	}
	view := totpView{Fault: fault}
	for text := people.TOTPText(secret); text != ""; text = text[min(4, len(text)):] {
		view.Secret += text[:min(4, len(text))] + " "
	}
	view.Secret = strings.TrimSpace(view.Secret)
	if view.Address, err = people.TOTPAddress(secret, s.siteName(), v.Name); err != nil {
		return err
	}
	if view.Picture, err = drawn(view.Address); err != nil {
		return err
	}
	return s.Page(c, status, "totp", "Authenticator app", view)
}

// siteName is what authenticator apps call the site.
func (s *Room) siteName() string {
	if s.party.ID == "" || s.party.ID == "localhost" {
		return "Deep-OJ"
	}
	return "Deep-OJ at " + s.party.ID
}

// confirmTOTP handles POST /account/totp/confirm: a code of the secret that was shown makes it count.
func (s *Room) confirmTOTP(c *fiber.Ctx) error {
	if err := s.mayHaveFactors(c); err != nil {
		return err
	}
	ctx, v := c.UserContext(), site.ViewerOf(c)
	secret, counts, err := s.Store.TOTP(ctx, v.Name)
	if errors.Is(err, sql.ErrNotFound) || err == nil && counts {
		return s.showTOTP(c, fiber.StatusOK, nil)
	}
	if err != nil {
		return err
	}
	step, ok := people.TOTPStep(secret, c.FormValue("code"), s.now())
	if !ok {
		f := s.Explain(ctx, site.WrongField("code", "wrong_code", "The code is not that of the app. Look whether the clocks of the device and of this server are right."))
		return s.showTOTP(c, f.Status, f)
	}
	if err := s.Store.ConfirmTOTP(ctx, v.Name, step); err != nil {
		return err
	}
	return s.firstFactor(c, locale.Sentence{Key: "The authenticator app is set up."})
}

// removeTOTP handles POST /account/totp/remove.
func (s *Room) removeTOTP(c *fiber.Ctx) error {
	if err := s.Store.RemoveTOTP(c.UserContext(), site.ViewerOf(c).Name); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneRemoved, "/account#factors")
}
