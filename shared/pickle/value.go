package pickle

// Values are nil, bool, int64, float64, string, []byte, [Tuple], [*List],
// [*Dict], [Global] and [*Object]. Lists, dictionaries and objects may hold
// themselves.

// Tuple is a tuple.
type Tuple []any

// List is a list.
type List struct{ Items []any }

// Dict is a dictionary, in the order of the file; of a key that comes twice the
// last value counts.
type Dict struct{ Keys, Values []any }

// Get returns the value of a key of text, or nil.
func (d *Dict) Get(key string) any {
	for i := len(d.Keys) - 1; i >= 0; i-- {
		if d.Keys[i] == key {
			return d.Values[i]
		}
	}
	return nil
}

// Global names a class or a function.
type Global struct{ Module, Name string }

func (g Global) String() string { return g.Module + "." + g.Name }

// Object is what the pickler would call or make: an instance that is never made.
type Object struct {
	Class Global
	Args  Tuple
	// State is what it would be given after it is made, nil where nothing is.
	State any
}

// Attribute is an attribute of a state that is a dictionary, or nil.
func (o *Object) Attribute(name string) any {
	if d, ok := o.State.(*Dict); ok {
		return d.Get(name)
	}
	return nil
}
