package plugin

// A child has the user id of whoever started it, and so far all that is theirs is
// its own: their memory, their files, their processes. A guest that broke out of
// the engine would have it. Walls take all of it away before a module is touched.
type walls struct {
	descriptors int    // how many it keeps, from 0 on
	cache       string // where the compiler keeps its folder, "" = nowhere
	reads       string // all that it may read, "" = nothing
	writes      string // all that it may write, "" = nothing
}

// Wall is a layer around the processes that run plugins.
type Wall struct {
	Name    string // such as "Landlock 6"
	Holds   string // what it keeps them from
	Missing string // why this machine or program has it not; "" = it stands
}
