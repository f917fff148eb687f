// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// frontPage is the first page for readers; contents lists the pages in docs, and navigation those of the site.
const (
	frontPage  = "README.md"
	contents   = "docs/README.md"
	navigation = "site/mkdocs.yml"
)

var markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// checkLinks requires that every link between our own pages has a target, and that every page in docs
// and evidence can be reached by links from the front page through the table of contents, those of docs also from the
// navigation of the site.
func checkLinks(m *Module) (bad []string) {
	pages, err := ownPages(m)
	if err != nil {
		return []string{err.Error()}
	}
	links := map[string][]string{}
	for page, text := range pages {
		for _, link := range markdownLink.FindAllStringSubmatch(text, -1) {
			to, ok := localTarget(page, link[1])
			if !ok {
				continue
			}
			if _, err := fs.Stat(m.FS, to); err != nil {
				bad = append(bad, fmt.Sprintf("%s: the link %s leads nowhere", page, link[1]))
				continue
			}
			links[page] = append(links[page], to)
		}
	}
	if !slices.Contains(links[frontPage], contents) {
		bad = append(bad, frontPage+": must link "+contents)
	}
	found := map[string]bool{}
	for _, to := range reachablePaths(links, frontPage) {
		found[to[len(to)-1]] = true
	}
	for page := range pages {
		if (strings.HasPrefix(page, "docs/") || strings.HasPrefix(page, "evidence/")) && !found[page] {
			bad = append(bad, page+": no link leads to it from "+frontPage)
		}
	}
	if site, err := fs.ReadFile(m.FS, navigation); err == nil {
		for page := range pages {
			if path.Dir(page) == "docs" && !strings.Contains(string(site), ": "+page+"\n") {
				bad = append(bad, page+": must be in the navigation of "+navigation)
			}
		}
	}
	slices.Sort(bad)
	return bad
}

// ownPages returns the texts of the project's own pages, by name.
func ownPages(m *Module) (map[string]string, error) {
	var names []string
	err := fs.WalkDir(m.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); d.IsDir() && (base == "testdata" || base == "out" || len(base) > 1 && base[0] == '.') {
			return fs.SkipDir
		}
		if !d.IsDir() && path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m.readPages(names...)
}

// localTarget returns the file that a link points to; ok is false for addresses and for links within
// the page.
func localTarget(page, link string) (to string, ok bool) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Path == "" {
		return "", false
	}
	return path.Join(path.Dir(page), u.Path), true
}
