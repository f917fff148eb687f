// SPDX-License-Identifier: Apache-2.0

package yamltext

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// Flow writes a node on one line, with brackets and braces. Text in quotes keeps them unless it needs none.
func Flow(n *Node) string {
	var parts []string
	switch n.Kind {
	case List:
		for _, item := range n.Items {
			parts = append(parts, Flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Mapping:
		for _, p := range n.Pairs {
			parts = append(parts, quoteIfNeeded(p.Key)+": "+Flow(p.Value)) // a key may be any text
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case Quoted:
		return quoteIfNeeded(n.Text)
	}
	return n.Text
}

func quoteIfNeeded(text string) string {
	if bareWord.MatchString(text) && !notText[strings.ToLower(text)] {
		return text
	}
	return Quote(text)
}

// bareWord matches text that every YAML reader of any version reads as text without quotes, unless it
// is one of the words of notText.
var bareWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.-]*([ _][A-Za-z0-9.-]+)*$`)

var notText = map[string]bool{
	"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true,
}

// Quote writes text as a JSON string, which is also valid YAML.
func Quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // <=50K is to stay readable
	if err := e.Encode(text); err != nil {
		panic(err) // a string always encodes
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
