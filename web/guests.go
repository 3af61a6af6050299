package web

// Guests reports whether somebody without an account may use the site, and why.
func (s *Server) Guests() (may bool, why string) { return s.guests, s.whyGuests }
