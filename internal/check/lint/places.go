// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// places match names that exist only on one machine or in one network. The letter in brackets prevents
// each pattern from matching itself.
var places = []*regexp.Regexp{
	regexp.MustCompile(`(^|[^A-Za-z0-9_.~-])/(wor[k]\b|roo[t]\b|hom[e]/\w|User[s]/\w|mn[t]/)`),
	regexp.MustCompile(`\b(prox[y]|su[m]|inde[x])\.golang\.org\b`),
	regexp.MustCompile(
		`\b(pypi\.or[g]|pythonhosted\.or[g]|registry\.npmj[s]|crates\.i[o]|deb\.debian\.or[g]|conda\.anaconda\.or[g])\b`),
	regexp.MustCompile(`\b(GOPROX[Y]|PIP_INDEX_UR[L])=|--(extra-)?index-ur[l]`),
	regexp.MustCompile(`\bshared/(guid[e]|paper[s])\b`),
}

// indexes match advice to take this program from an index of packages or a registry of images, where
// nobody of the project owns its name: a stranger could. A release is its files and their checksums.
var indexes = []*regexp.Regexp{
	regexp.MustCompile(`\b(pip3?|pipx|uv pip|uv tool|conda|npm|brew|apt|apt-get|dnf|snap|cargo) (-\S+ )*(install|add)( -\S+)* ["']?discree[t](-[a-z]+)?($|[^-./_a-zA-Z0-9])`),
	regexp.MustCompile(`\b(docker|podman|crictl|nerdctl) pul[l]\b`),
	regexp.MustCompile(`\b(docker|podman) ru[n] (-\S+ ("\S+" |\w+ )?)*discreet`),
}

// checkPlaces searches every text file in dir that is, or is about to be, under version control. A
// tree without its history (a release archive) is searched as a whole.
func checkPlaces(dir string) (bad []string, err error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = dir
	out, err := cmd.Output()
	var names []string
	if err == nil {
		names = strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	} else if names, err = regularFiles(dir); err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			continue // deleted, not yet committed
		}
		if err != nil {
			return nil, err
		}
		bad = append(bad, findPlaces(name, text)...)
	}
	return bad, nil
}

func regularFiles(dir string) (names []string, err error) {
	err = filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			var rel string
			rel, err = filepath.Rel(dir, path)
			names = append(names, rel)
		}
		return err
	})
	return names, err
}

func findPlaces(name string, text []byte) (bad []string) {
	if bytes.IndexByte(text, 0) >= 0 || strings.HasSuffix(name, ".sum") {
		return nil
	}
	line := 0
	for l := range bytes.Lines(text) {
		line++
		for _, p := range indexes {
			if !bytes.Contains(l, []byte("discreet")) && !bytes.Contains(l, []byte("pull")) {
				break
			}
			if hit := p.Find(l); hit != nil && !bytes.Contains(hit, []byte("--pull never")) {
				bad = append(bad, fmt.Sprintf("%s:%d: %q takes the program from an index that nobody of the project owns", name, line,
					bytes.TrimSpace(hit)))
			}
		}
		for _, p := range places {
			if hit := p.Find(l); hit != nil {
				bad = append(bad, fmt.Sprintf("%s:%d: %q names a place of one machine or network", name, line,
					bytes.TrimSpace(hit)))
			}
		}
	}
	return bad
}
