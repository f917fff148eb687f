// SPDX-License-Identifier: Apache-2.0

//go:build !js

package object

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// config holds the address of a store, and the credentials.
type config struct {
	keys     keys
	region   string
	endpoint *url.URL // nil for Amazon's own
}

// readConfig reads the environment and the two usual files of profiles. Keys from the environment take
// precedence over those from files.
func readConfig() (*config, error) {
	home, _ := os.UserHomeDir()
	profile := cmp.Or(os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"), "default")
	file := func(variable, name string) (map[string]string, error) {
		return readProfile(cmp.Or(os.Getenv(variable), filepath.Join(home, ".aws", name)), profile)
	}
	secrets, err := file("AWS_SHARED_CREDENTIALS_FILE", "credentials")
	if err != nil {
		return nil, err
	}
	settings, err := file("AWS_CONFIG_FILE", "config")
	if err != nil {
		return nil, err
	}
	c := &config{}
	c.keys = keys{os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")}
	for _, from := range []map[string]string{secrets, settings} {
		if c.keys.id == "" && c.keys.secret == "" {
			c.keys = keys{from["aws_access_key_id"], from["aws_secret_access_key"], from["aws_session_token"]}
		}
	}
	if c.keys.id == "" || c.keys.secret == "" {
		return nil, &dp.ParamError{Op: op, Param: "keys of the store", Want: "must be in AWS_ACCESS_KEY_ID and " +
			"AWS_SECRET_ACCESS_KEY, or in the profile that AWS_PROFILE names",
			Hint: `of roles, of single sign-on and of machines: eval "$(aws configure export-credentials --format env)"`}
	}
	if strings.ContainsFunc(c.keys.id+c.keys.secret+c.keys.token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, &dp.ParamError{Op: op, Param: "keys of the store", Want: "must be printable ASCII without spaces"}
	}
	c.region = cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), settings["region"], secrets["region"],
		"us-east-1")
	if !regionName.MatchString(c.region) {
		return nil, &dp.ParamError{Op: op, Param: "AWS_REGION", Want: "must be lower-case letters, digits and hyphens"}
	}
	if at := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), settings["endpoint_url"]); at != "" {
		u, err := url.Parse(at)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			return nil, &dp.ParamError{Op: op, Param: "AWS_ENDPOINT_URL", // not quoted: it may hold a password
				Want: "must look like https://host:port, without a user or parameters"}
		}
		c.endpoint = u
	}
	return c, nil
}

var regionName = regexp.MustCompile(`^[a-z0-9-]+$`)

// maxConfig is the largest size of a file of profiles in bytes.
const maxConfig = 1 << 20

// readProfile reads the settings of one profile from a file; none if the file does not exist. Its
// errors contain none of the file's text.
func readProfile(path, profile string) (map[string]string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.Size() > maxConfig {
		err = errors.New(op + ": " + path + ": must be a file of profiles, of at most 1 MiB")
	}
	if err != nil {
		return nil, err
	}
	text, err := openfile.Read(path)
	if err != nil {
		return nil, err
	}
	return parseProfile(string(text), profile), nil
}

// parseProfile finds the settings of [NAME] and [profile NAME] in a file's text. It skips indented
// lines, which belong to nested settings that are not needed.
func parseProfile(text, profile string) map[string]string {
	settings := map[string]string{}
	here := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case trimmed[0] == '[':
			name := strings.Fields(strings.Trim(trimmed, "[]"))
			if len(name) == 2 && name[0] == "profile" {
				name = name[1:]
			}
			here = len(name) == 1 && name[0] == profile
		case here && line[0] != ' ' && line[0] != '\t':
			if key, value, ok := strings.Cut(trimmed, "="); ok {
				settings[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
			}
		}
	}
	return settings
}
