// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Section is a group of flags in a command's help.
type Section struct {
	Title string
	Flags *pflag.FlagSet
}

// Keys of annotations: the titles of a command's sections in order, and the description of a flag in a
// section.
const (
	sectionsKey = "sections"
	sectionKey  = "section "
	titlesEnd   = "\n"
)

// helpWidth is the width of the list of flags.
const helpWidth = 100

func init() {
	cobra.AddTemplateFunc("flagSections", func(c *cobra.Command) string {
		var b strings.Builder
		for _, s := range FlagSections(c) {
			b.WriteString("\n\n" + s.Title + ":\n" + strings.TrimRight(s.Flags.FlagUsagesWrapped(helpWidth), "\n"))
		}
		return b.String()
	})
}

// AddSection lists flags of c under a title, after the existing sections. A flag may be in several
// sections.
func AddSection(c *cobra.Command, title string, flags ...string) {
	for _, name := range flags {
		AddToSection(c, title, name, c.Flags().Lookup(name).Usage)
	}
}

// AddToSection is AddSection for one flag, with its own description in this section.
func AddToSection(c *cobra.Command, title, flag, usage string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	titles := strings.SplitAfter(c.Annotations[sectionsKey], titlesEnd)
	if !slices.Contains(titles, title+titlesEnd) {
		c.Annotations[sectionsKey] += title + titlesEnd
	}
	f := c.Flags().Lookup(flag)
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[sectionKey+title] = []string{usage}
}

// FlagSections returns the sections of a command's help. The first one has the flags that are in no
// other.
func FlagSections(c *cobra.Command) (sections []Section) {
	rest := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		for key := range f.Annotations {
			if strings.HasPrefix(key, sectionKey) {
				return
			}
		}
		rest.AddFlag(f)
	})
	if rest.HasAvailableFlags() {
		sections = append(sections, Section{"Flags", rest})
	}
	for title := range strings.Lines(c.Annotations[sectionsKey]) {
		title = strings.TrimSuffix(title, titlesEnd)
		s := Section{title, pflag.NewFlagSet(title, pflag.ContinueOnError)}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if usage := f.Annotations[sectionKey+title]; usage != nil {
				own := *f
				own.Usage = usage[0]
				s.Flags.AddFlag(&own)
			}
		})
		sections = append(sections, s)
	}
	return sections
}
