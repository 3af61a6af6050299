package main

func main() {
	var nothing []int
	println(nothing[len(nothing)])
}
