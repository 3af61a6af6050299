// Package landlock says what Landlock of this kernel knows, and makes rulesets.
package landlock
