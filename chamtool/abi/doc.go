// Package abi names what crosses the border between the C side of the tool and
// Go: the callbacks of the Chameleon tools interface in its two dialects, and
// the slots that the C side writes one event into.
//
// It decides nothing beyond the layout: four 64-bit words a slot, sizes in
// further slots, native byte order. It refuses slots whose kind it
// does not know, see [Slot.Valid].
//
//	s := abi.Slot{}
//	s.SetHeader(abi.Create, abi.Local, 2, 0)
//	s[abi.WordTicks] = 12345
//	fmt.Println(s.Kind(), s.Sizes()) // create 2
package abi
